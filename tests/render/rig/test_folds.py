from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from support.rig import face, meshed, moved
from visavis.render.rig import folds
from visavis.render.rig.expression import EMOTIONS
from visavis.render.rig.folds import load_folds, pulled, shade
from visavis.render.rig.shapes import SHAPES
from visavis.render.rig.tensors import SKIN
from visavis.render.rig.units import UNIT_COUNT, unit_vector

NAMES = ("ruby", "marcus")
LEFT, RIGHT = 0, 1


def changed(name: str, units: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> NDArray[np.int64]:
    """By how much, (H, W), the folds darken each pixel of a face with `units`; less than 0 is lighter."""
    one = face(name)
    with_folds = one.draw(moved(units), one.canvas()).astype(np.int64).sum(2)
    with monkeypatch.context() as patch:
        patch.setattr(folds, "shade", lambda _: None)
        return one.draw(moved(units), one.canvas()).astype(np.int64).sum(2) - with_folds


def test_a_face_at_rest_and_a_rounded_one_have_no_folds() -> None:
    assert pulled(np.zeros(UNIT_COUNT, np.float32)) == (0, 0)
    assert pulled(unit_vector(SHAPES["ou"].units)) == (0, 0)
    assert shade(0.0) is None


def test_a_smile_draws_whole_folds_and_a_wide_vowel_lesser_ones() -> None:
    happy, wide, wider = (
        pulled(units)[LEFT]
        for units in (EMOTIONS["happy"], unit_vector(SHAPES["eh"].units), unit_vector(SHAPES["ih"].units))
    )
    assert 0.1 < wide < wider < happy <= 1


def test_a_smile_of_one_side_draws_that_side() -> None:
    left, right = pulled(unit_vector({"mouthSmileLeft": 0.4}))
    assert left > 0.4
    assert right == 0


def test_folds_grow_without_a_jump() -> None:
    peaks = [0 if (one := shade(pull)) is None else int(one.alpha.max()) for pull in np.linspace(0, 1, 101)]
    assert peaks[-1] > 40
    assert np.diff(peaks).min() >= 0
    assert np.diff(peaks).max() <= 4


def test_a_fold_fades_out_on_all_sides() -> None:
    whole = shade(1.0)
    assert whole is not None
    rim = np.concatenate([whole.alpha[0], whole.alpha[-1], whole.alpha[:, 0], whole.alpha[:, -1]])
    assert rim.max() == 0


@pytest.mark.parametrize("name", NAMES)
def test_folds_lie_on_skin_beside_the_mouth_and_mirror_each_other(name: str) -> None:
    mesh = meshed(name)
    left, right = load_folds(mesh)
    assert len(left.triangles) == pytest.approx(len(right.triangles), rel=0.05)
    assert (mesh.part[left.triangles] == SKIN).all()
    assert mesh.rest[left.triangles, 0].min() >= 0 >= mesh.rest[right.triangles, 0].max()
    beside = np.abs(mesh.rest[left.triangles, 0] - mesh.mouth[0])
    assert 0.1 < beside.mean() < 0.45


@pytest.mark.parametrize("name", NAMES)
def test_a_smile_is_darker_along_its_folds_and_nowhere_else(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    darker = changed(name, {"mouthSmile": 0.5, "cheekSquint": 0.4}, monkeypatch)
    assert darker.max() > 50
    assert darker.min() > -90
    assert 0.001 < (darker != 0).mean() < 0.04
    assert not changed(name, {}, monkeypatch).any()


def test_a_fold_does_not_shine_through_the_head(monkeypatch: pytest.MonkeyPatch) -> None:
    """The far side of a turned head shows less of its fold than the near one."""
    one = face("ruby")
    motion = replace(moved({"mouthSmileLeft": 0.6}), head=np.array([20, 0, 0], np.float32))
    near = replace(motion, head=-motion.head)
    seen: list[int] = []
    for turned in (motion, near):
        shown = one.draw(turned, one.canvas()).astype(np.int64)
        with monkeypatch.context() as patch:
            patch.setattr(folds, "shade", lambda _: None)
            plain = one.draw(turned, one.canvas()).astype(np.int64)
        seen.append(int((shown != plain).any(2).sum()))
    assert min(seen) < 0.9 * max(seen)
