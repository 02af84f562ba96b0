import torch
from visavis.render.ditto.core import motion_rows as rows
from visavis.render.ditto.core.motion_tiles import TABLE
from visavis.render.ditto.lmdm import LmdmSize
from visavis.render.ditto.seams import LENGTH

CPU = torch.device("cpu")
TINY = LmdmSize.tiny()


def test_rows_are_named_by_way_steps_and_batch_and_can_be_called() -> None:
    made = rows.motion_rows(CPU, (1, 2), steps=4, size=TINY)
    assert list(made) == [f"motion {way} 4 {batch}" for batch in (1, 2) for way in ("plain", "twins")]
    for call in made.values():
        call()


def test_half_precision_is_as_near_to_full_by_the_twins_as_by_the_plain_modules() -> None:
    found = rows.motion_errors(CPU, 3, steps=5, size=TINY)
    assert set(found) == {"plain", "twins", "twins place", "kernels", "kernels place"}
    assert 1e-5 < found["twins"] < 1.2 * found["plain"] < 5e-3
    assert found["twins place"] < 0.02


def test_the_rows_that_have_left_are_those_of_the_hop() -> None:
    assert LENGTH - rows.HOP - rows.FUSE == rows.LEFT


def test_variants_differ_from_the_entry_and_from_each_other() -> None:
    for tiles in TABLE.values():
        made = dict(rows.variants(tiles))
        assert made.pop("as it is") is tiles
        assert len(made) > 30
        assert sum(other == tiles for other in made.values()) <= 12
        assert all(512 % tile.columns == 0 for other in made.values() for tile in other.by_shape.values())
