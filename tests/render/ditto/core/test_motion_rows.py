import pytest
import torch
from support.interpreter import triton
from visavis.render.ditto.core import motion_rows as rows
from visavis.render.ditto.core.motion_launch import MotionKernels
from visavis.render.ditto.core.motion_tiles import MIX, NARROW, SQUARE, TABLE, WIDEN, Tile, Tiles
from visavis.render.ditto.lmdm import LmdmSize
from visavis.render.ditto.windows import Windows, WindowShape

assert triton is not None
CPU = torch.device("cpu")
TINY = LmdmSize.tiny()


def test_rows_are_named_by_way_steps_and_batch_and_can_be_called() -> None:
    made = rows.motion_rows(CPU, (1, 2), steps=4, size=TINY)
    assert list(made) == [f"motion {way} 4 {batch}" for batch in (1, 2) for way in ("plain", "twins")]
    for call in made.values():
        call()


def test_half_precision_is_as_near_to_full_by_the_twins_as_by_the_plain_modules() -> None:
    found = rows.motion_errors(CPU, 3, steps=5, size=TINY)
    ways = {f"{ops}{way}" for ops in ("twins", "kernels") for way in ("", " place")}
    assert set(found) == {"plain", *ways}
    assert 1e-5 < found["twins"] < 1.2 * found["plain"] < 5e-3
    assert found["twins place"] < 0.02


def test_the_rows_that_have_left_are_those_of_the_hop() -> None:
    windows = Windows(WindowShape(5, 5), leads_on=True)
    assert windows.hold(windows.init(1)).left == rows.LEFT


@pytest.mark.parametrize("tiles", TABLE.values(), ids=map(str, TABLE))
def test_each_change_is_one_that_kernels_can_have(tiles: Tiles) -> None:
    made = rows.changes(tiles)
    assert made[rows.AS_IT_IS](tiles) is tiles
    for change in made.values():
        other = change(tiles)
        assert all(512 % tile.columns == 0 for tile in other.by_shape.values())
        few = [tile.rows for tile in other.by_shape.values()] + [other.queries]
        assert max(few) <= 128
    assert len({repr(change(tiles)) for change in made.values()}) > len(made) - 8


def test_changes_that_are_quicker_are_kept_and_built_upon(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a clock that likes what is early and tiles of 64 rows, and a card with little room."""
    from triton.runtime.errors import OutOfResources

    shapes, too_large = (MIX, WIDEN, SQUARE, NARROW), Tile(128, 128, 64, warps=4, stages=3)
    seen: list[Tiles] = []

    def captured(plan: object, given: object, ops: MotionKernels) -> rows.Call:
        if ops.tiles.of(*MIX) == too_large:
            raise OutOfResources(300_000, 232_448, "shared memory")
        seen.append(ops.tiles)
        return lambda: None

    def ms(call: rows.Call) -> float:
        liked = sum(seen[-1].of(*shape).rows == 64 for shape in shapes)
        return 9.0 - seen[-1].early - liked

    monkeypatch.setattr(rows, "_captured", captured)
    told = list(rows.tuned(CPU, 16, ms, steps=4, size=TINY))
    assert told[0][:2] == (rows.AS_IT_IS, 9.0)
    best = told[-1][2]
    assert best.early
    assert all(best.of(*shape).rows == 64 for shape in shapes)
    assert min(spent for _, spent, _ in told) == 4
    assert f"mix {too_large}" not in [name for name, _, _ in told]
