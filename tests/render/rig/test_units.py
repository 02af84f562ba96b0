import pytest
from visavis.render.rig.units import BLINK_LEFT, BLINK_RIGHT, UNIT_COUNT, UNITS, parting, unit_vector


def test_there_are_fifty_two_different_units() -> None:
    assert len(set(UNITS)) == UNIT_COUNT == 52


def test_a_name_without_a_side_sets_both_sides() -> None:
    assert unit_vector({"eyeBlink": 0.5})[[BLINK_LEFT, BLINK_RIGHT]].tolist() == [0.5, 0.5]


def test_a_whole_name_sets_only_itself() -> None:
    vector = unit_vector({"mouthLeft": 0.25, "jawOpen": 1.0})
    assert vector[UNITS.index("mouthLeft")] == 0.25
    assert vector.sum() == 1.25


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(ValueError, match="no face unit 'earWiggle'"):
        unit_vector({"earWiggle": 1.0})


def test_only_what_opens_the_mouth_parts_the_lips() -> None:
    assert parting(unit_vector({"mouthPress": 0.5, "mouthSmile": 1.0, "browInnerUp": 1.0})) == 0
    assert 0 < parting(unit_vector({"jawOpen": 0.05})) < 1
    assert parting(unit_vector({"mouthLowerDown": 0.3, "mouthUpperUp": 0.1})) == 1
