"""A row of motion and its parts are the same numbers."""

import torch
from visavis.render.ditto import motion
from visavis.render.ditto.motion import Motion


def rows(*leading: int) -> torch.Tensor:
    return torch.randn(*leading, motion.WIDTH, generator=torch.Generator().manual_seed(1))


def test_parts_fill_a_row_without_gap_or_overlap() -> None:
    parts = (motion.SCALE, motion.PITCH, motion.YAW, motion.ROLL, motion.TRANSLATION, motion.EXPRESSION)
    assert [part.start for part in parts] == [0, *(part.stop for part in parts[:-1])]
    assert parts[-1].stop == motion.WIDTH
    assert slice(0, motion.EXPRESSION.start) == motion.RIGID


def test_a_row_survives_being_taken_apart() -> None:
    there = rows(2, 3)
    torch.testing.assert_close(Motion.from_rows(there).to_rows(), there)


def test_the_first_column_is_scale_less_one() -> None:
    assert torch.equal(Motion.from_rows(torch.zeros(4, motion.WIDTH)).scale, torch.ones(4, 1))


def test_rows_can_be_picked() -> None:
    there = rows(5)
    torch.testing.assert_close(Motion.from_rows(there).at(slice(1, 3)).to_rows(), there[1:3])
    torch.testing.assert_close(Motion.from_rows(there).at(4).to_rows(), there[4])
