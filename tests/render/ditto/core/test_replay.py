import pytest
import torch
from visavis.render.ditto.core.replay import BUCKETS, Replay

CPU = torch.device("cpu")


def test_without_a_gpu_the_function_is_called_for_just_what_is_asked() -> None:
    counts: list[int] = []
    replay = Replay(counts.append, CPU)
    replay.capture()
    replay(3)
    replay(16)
    assert counts == [3, 16]


def test_what_lies_between_two_batches_runs_as_the_larger() -> None:
    replay = Replay(lambda _: None, CPU, buckets=(4, 1, 2))
    assert [replay.bucket(count) for count in (1, 2, 3, 4)] == [1, 2, 4, 4]
    assert BUCKETS[-1] == 16


def test_more_than_the_largest_batch_is_refused() -> None:
    counts: list[int] = []
    with pytest.raises(ValueError, match="17 rows are more than the largest batch of 16"):
        Replay(counts.append, CPU)(17)
    assert counts == []


@pytest.mark.parametrize(
    ("count", "sizes"), [(0, []), (1, [1]), (7, [1, 2, 4]), (8, [8]), (13, [1, 4, 8]), (21, [1, 4, 8, 8])]
)
def test_rows_run_in_whole_buckets_the_smallest_first(count: int, sizes: list[int]) -> None:
    parts = list(Replay(lambda _: None, CPU, buckets=(1, 2, 4, 8)).parts(count))
    assert [part.stop - part.start for part in parts] == sizes
    assert [row for part in parts for row in range(part.start, part.stop)] == list(range(count))
