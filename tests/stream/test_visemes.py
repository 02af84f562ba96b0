# ruff: noqa: RUF001 (phonetic letters look like others)

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.stream.visemes import ROWS_PER_TICK, SILENCE, VISEMES, Cue, cues_of

AA, EH, IH, OH, OU = (VISEMES.index(name) for name in ("aa", "eh", "ih", "oh", "ou"))
PP, SS, NN = (VISEMES.index(name) for name in ("pp", "ss", "nn"))

sounds = st.tuples(st.sampled_from([*"ɑpszθtfkŋɹʧAIWYOQˈˌː $.,;?", "", "??"]), st.integers(0, 3000))


def spoken(*timed: tuple[str, int]) -> list[Cue]:
    return cues_of([symbol for symbol, _ in timed], [duration for _, duration in timed])


def test_there_are_fifteen_shapes_and_four_rows_a_tick() -> None:
    assert len(VISEMES) == len(set(VISEMES)) == 15
    assert VISEMES[SILENCE] == "sil"
    assert ROWS_PER_TICK == 4


@given(st.lists(sounds, max_size=40))
def test_cues_cover_the_time_from_the_start_to_the_end_without_overlap(timed: list[tuple[str, int]]) -> None:
    cues = spoken(*timed)
    total = sum(duration for _, duration in timed)
    edges = [(0, 0), *((cue.start, cue.end) for cue in cues), (total, total)]
    assert all(before[1] == after[0] for before, after in pairwise(edges))
    assert all(start <= end for start, end in edges)
    assert all(0 <= cue.viseme < len(VISEMES) for cue in cues)


@given(st.lists(sounds, max_size=20), st.lists(sounds, max_size=20))
def test_what_comes_later_never_changes_a_shape_already_begun(
    before: list[tuple[str, int]], after: list[tuple[str, int]]
) -> None:
    shapes = [(cue.viseme, cue.start) for cue in spoken(*before, ("p", 100))]
    assert [(cue.viseme, cue.start) for cue in spoken(*before, ("p", 100), *after)][: len(shapes)] == shapes


@pytest.mark.parametrize(
    ("symbol", "viseme"),
    [
        *[("ɑ", "aa"), ("ə", "eh"), ("i", "ih"), ("ɔ", "oh"), ("u", "ou"), ("m", "pp"), ("s", "ss")],
        *[("ð", "th"), ("d", "dd"), ("v", "ff"), ("ɡ", "kk"), ("n", "nn"), ("ɹ", "rr"), ("ʤ", "ch")],
        *[("$", "sil"), (".", "sil"), ("", "sil"), ("long", "sil")],
    ],
)
def test_each_kind_of_sound_has_its_shape(symbol: str, viseme: str) -> None:
    assert spoken((symbol, 10)) == [Cue(VISEMES.index(viseme), 0, 10)]


@pytest.mark.parametrize(
    ("symbol", "heard", "seen"),
    [("l", "rr", "nn"), ("w", "rr", "ou"), ("j", "rr", "ih"), ("ŋ", "nn", "kk"), ("ɹ", "rr", "rr")],
)
def test_some_sounds_look_otherwise_than_a_net_names_them(symbol: str, heard: str, seen: str) -> None:
    assert cues_of([symbol], [10]) == [Cue(VISEMES.index(heard), 0, 10)]
    assert cues_of([symbol], [10], seen=True) == [Cue(VISEMES.index(seen), 0, 10)]


@pytest.mark.parametrize(
    ("symbol", "first", "second"),
    [("A", EH, IH), ("I", AA, IH), ("W", AA, OU), ("Y", OH, IH), ("O", OH, OU), ("Q", EH, OU)],
)
def test_a_diphthong_turns_at_55_percent_of_its_time(symbol: str, first: int, second: int) -> None:
    assert spoken(("p", 7), (symbol, 1000)) == [Cue(PP, 0, 7), Cue(first, 7, 557), Cue(second, 557, 1007)]


def test_stress_marks_lend_their_time_to_the_sound_that_follows() -> None:
    assert spoken(("p", 10), ("ˈ", 5), ("ˌ", 5), ("ɑ", 10)) == [Cue(PP, 0, 10), Cue(AA, 10, 30)]
    assert spoken(("ˈ", 100), ("I", 100)) == [Cue(AA, 0, 110), Cue(IH, 110, 200)]


def test_a_stress_mark_with_nothing_after_it_is_silence() -> None:
    assert spoken(("p", 10), ("ˈ", 5), ("ˌ", 5)) == [Cue(PP, 0, 10), Cue(SILENCE, 10, 20)]


def test_a_length_mark_holds_the_shape_before_it() -> None:
    assert spoken(("ɑ", 10), ("ː", 20), ("n", 5)) == [Cue(AA, 0, 30), Cue(NN, 30, 35)]
    assert spoken(("ɑ", 10), ("ˈ", 3), ("ː", 20)) == [Cue(AA, 0, 33)]


def test_a_gap_between_words_closes_the_mouth_only_when_it_is_longer_than_100_ms() -> None:
    assert spoken(("ɑ", 10), (" ", 2400)) == [Cue(AA, 0, 2410)]
    assert spoken(("ɑ", 10), (" ", 2401)) == [Cue(AA, 0, 10), Cue(SILENCE, 10, 2411)]
    assert spoken(("ɑ", 10), ("ˈ", 1), (" ", 2400)) == [Cue(AA, 0, 10), Cue(SILENCE, 10, 2411)]


@pytest.mark.parametrize("symbol", ["ː", " "])
def test_a_mark_with_no_shape_before_it_is_silence(symbol: str) -> None:
    assert spoken((symbol, 10), ("s", 10)) == [Cue(SILENCE, 0, 10), Cue(SS, 10, 20)]


def test_nothing_said_gives_no_cues() -> None:
    assert cues_of([], []) == []


def test_a_missing_duration_is_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        cues_of(["p", "a"], [10])
