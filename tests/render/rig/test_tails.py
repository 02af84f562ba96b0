import numpy as np
import pytest
from numpy.typing import NDArray
from support.mouths import certain
from visavis.render.rig.tails import filled
from visavis.stream.visemes import VISEMES

F32 = NDArray[np.float32]
LOUD, HISS, SOFT = 0.1, 0.01, 0.001


def shown(text: str, levels: str) -> str:
    """The shapes of rows named as "ss*4 sil*6", with a sound where `levels` has an x, and a hiss at an h."""
    names = [name for word in text.split() for name in [word.split("*")[0]] * int(word.split("*")[1])]
    loud = np.array([{"x": LOUD, "h": HISS}.get(level, SOFT) for level in levels], np.float32)
    found = filled(certain(names), loud, LOUD)
    assert found.shape == (len(names), len(VISEMES))
    out = [VISEMES[row] for row in found.argmax(1)]
    parts: list[str] = []
    for name in out:
        last, _, count = parts[-1].partition("*") if parts else ("", "", "0")
        if name == last:
            parts[-1] = f"{name}*{int(count) + 1}"
        else:
            parts.append(f"{name}*1")
    return " ".join(parts)


@pytest.mark.parametrize(
    ("text", "levels", "found"),
    [
        ("ss*4 sil*6 aa*2", "xxxxxx....xx", "ss*6 sil*4 aa*2"),
        ("ss*4 sil*6 ss*2", "xxxxxxxxxxxx", "ss*12"),
        ("ss*2 sil*12 aa*2", "xxxxxxxxxxxxxxxx", "ss*11 aa*5"),
        ("sil*6 nn*2", "...xxxxx", "sil*3 nn*5"),
        ("sil*6 nn*2", "xxxxxxxx", "sil*3 nn*5"),
        ("sil*6 pp*2", "xxxxxxxx", "sil*6 pp*2"),
        ("ss*2 sil*6", "xx..xxxx", "ss*2 sil*6"),
        ("sil*8", "xxxxxxxx", "sil*8"),
        ("ss*2 sil*4", "hhhhhh", "ss*6"),
        ("pp*2 sil*4", "xxxxxx", "pp*6"),
        ("pp*2 sil*4", "xxhhhh", "pp*2 sil*4"),
        ("ss*2 sil*4", "......", "ss*2 sil*4"),
    ],
)
def test_a_sound_goes_on_while_it_is_heard_and_begins_when_it_is(text: str, levels: str, found: str) -> None:
    assert shown(text, levels) == found


def test_rows_nobody_knows_yet_are_no_sound() -> None:
    rows = certain(["sil"] * 4 + ["ss"] * 2)
    rows[4:] = 0
    assert np.array_equal(filled(rows, np.full(6, LOUD, np.float32), LOUD), rows)
    rows[:2] = 0
    assert np.array_equal(filled(rows, np.full(6, LOUD, np.float32), LOUD), rows)


def test_what_was_told_is_left_as_it_is() -> None:
    rows = certain(["ss"] * 3 + ["sil"] * 3)
    before = rows.copy()
    filled(rows, np.full(6, LOUD, np.float32), LOUD)
    assert np.array_equal(rows, before)
