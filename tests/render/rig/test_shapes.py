import numpy as np
import pytest
from support.rig import face, meshed, moved
from visavis.render.rig.shapes import OPENING, SHAPES, TARGETS, TEMPO, TONGUE_TARGETS
from visavis.render.rig.tensors import SKIN
from visavis.render.rig.units import UNITS
from visavis.stream.visemes import VISEMES

PRESENTERS = ("ruby", "marcus")
CORNER = (0.25, 0.03)
"""Where a corner of the mouth is, beside and above its middle, in model units."""


def gap(viseme: str, presenter: str) -> float:
    units = TARGETS[:, VISEMES.index(viseme)].sum(0).astype(np.float32)
    return face(presenter).lip_gap(moved(units), face(presenter).canvas())


def width(units: dict[str, float], presenter: str) -> float:
    """How far the corners of the mouth are apart, in model units."""
    mesh, one = meshed(presenter), face(presenter)
    canvas = one.canvas()
    one.lip_gap(moved(units), canvas)
    off = mesh.rest - mesh.mouth
    hidden = 9 * ((mesh.part != SKIN) | (off[:, 2] < -0.3))
    left, right = (
        canvas.world[(np.linalg.norm(off[:, :2] - (side, CORNER[1]), axis=1) + hidden).argmin(), 0]
        for side in (CORNER[0], -CORNER[0])
    )
    return float(left - right)


def test_every_viseme_has_its_shape_and_every_weight_its_organ() -> None:
    assert tuple(SHAPES) == VISEMES
    assert TARGETS.shape == (len(TEMPO), 15, 52)
    assert TARGETS.min() >= 0
    assert TARGETS.max() <= 1
    assert ((TARGETS > 0).sum(0) <= 1).all()


@pytest.mark.parametrize("presenter", PRESENTERS)
def test_vowels_open_in_their_order_and_closures_close(presenter: str) -> None:
    order = [gap(name, presenter) for name in ("pp", "ff", "ih", "eh", "aa")]
    assert order == sorted(order)
    assert order[0] == 0
    assert 0.1 * order[-1] < order[1] < 0.2 * order[-1], "teeth on the lip show"
    assert 0.1 < order[-1] < 0.2
    assert gap("sil", presenter) <= 0.1 * order[-1]


def test_rounded_vowels_anticipate_longer_than_all_others() -> None:
    rise = {name: shape.rise for name, shape in SHAPES.items()}
    rounded = {"oh", "ou"}
    assert min(rise[name] for name in rounded) > max(rise[name] for name in rise if name not in rounded)
    assert min(rise, key=rise.__getitem__) == "pp"


def test_the_tongue_comes_out_in_th_and_rises_in_d_and_n() -> None:
    tongue = TARGETS[2, :, UNITS.index("tongueOut")]
    assert {VISEMES[at] for at in np.flatnonzero(tongue)} == {"th", "dd", "nn"}
    assert tongue[VISEMES.index("th")] == tongue.max()
    assert tongue.max() <= 0.9, "further out it has not been looked at"
    assert max(tongue[VISEMES.index(name)] for name in ("dd", "nn")) <= 0.5


def test_rounded_lips_protrude_and_show_no_beak() -> None:
    """A funnel of 0.4 turns the upper lip inside out; speech makes a little more of a shape."""
    for name in ("oh", "ou", "ch", "rr"):
        units = SHAPES[name].units
        assert units["mouthPucker"] >= 0.6
        assert units["mouthFunnel"] <= 0.25
        assert "mouthShrugUpper" not in units


@pytest.mark.parametrize(
    ("viseme", "least", "most"), [("ou", 0.60, 0.75), ("oh", 0.62, 0.77), ("ch", 0.68, 0.80)]
)
@pytest.mark.parametrize("presenter", PRESENTERS)
def test_rounded_lips_are_seen_to_be_narrow(presenter: str, viseme: str, least: float, most: float) -> None:
    """From corner to corner, against lips at rest."""
    rest, rounded = (width(units, presenter) for units in ({}, SHAPES[viseme].units))
    assert least < rounded / rest < most


@pytest.mark.parametrize("presenter", PRESENTERS)
def test_a_wide_vowel_is_not_narrow(presenter: str) -> None:
    assert width(SHAPES["ih"].units, presenter) > 0.98 * width({}, presenter)


def test_no_vowel_smiles() -> None:
    for name in VISEMES:
        assert "mouthSmile" not in SHAPES[name].units
        assert SHAPES[name].units.get("mouthStretch", 0.0) <= 0.3


def test_what_opens_the_lips_is_the_jaw_and_the_lips_themselves() -> None:
    assert {UNITS[at].removesuffix("Left").removesuffix("Right") for at in np.flatnonzero(OPENING)} == {
        "jawOpen",
        "mouthLowerDown",
        "mouthUpperUp",
    }


def test_tongues_rise_behind_the_teeth_for_t_n_and_to_the_palate_for_k_and_lie_low_for_a() -> None:
    tip, back, low = (
        {name: way for name, way in zip(VISEMES, ways, strict=True)} for ways in TONGUE_TARGETS.T
    )
    assert TONGUE_TARGETS.min() == 0
    assert TONGUE_TARGETS.max() == 1
    assert tip["th"] > tip["dd"] == tip["nn"] > 0.5
    assert back["kk"] == max(back.values()) == 1
    assert low["aa"] == max(low.values()) == 1
    assert not TONGUE_TARGETS[VISEMES.index("sil")].any()
    assert SHAPES["th"].units["tongueOut"] > 0.5
