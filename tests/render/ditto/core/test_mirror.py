from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from visavis.render.ditto.core.mirror import ALIGNED, Mirror, gathered, named, sent


@dataclass(frozen=True)
class Pair:
    flags: Tensor
    numbers: Tensor


def layout() -> dict[str, Tensor]:
    return {
        **named(Pair(torch.tensor([True, False, True]), torch.rand(2, 3)), "pair."),
        "place": torch.arange(5),
        "nothing": torch.zeros(0),
    }


def test_tensors_lie_in_one_row_of_memory_with_their_values() -> None:
    given = layout()
    mirror = Mirror(given, torch.device("cpu"))
    for name, value in given.items():
        assert torch.equal(mirror.host[name], value)
        assert mirror.host[name].dtype == value.dtype
    starts = [one.untyped_storage().data_ptr() for one in mirror.host.values()]
    assert len(set(starts)) == 1
    offsets = [one.data_ptr() - starts[0] for one in mirror.host.values() if one.numel()]
    assert offsets == sorted(set(offsets))
    assert all(offset % ALIGNED == 0 for offset in offsets)
    assert mirror.nbytes == 16 + 32 + 48


def test_without_a_gpu_what_the_host_writes_is_there_at_once() -> None:
    mirror = Mirror(layout(), torch.device("cpu"))
    pair = gathered(Pair, mirror.host, "pair.")
    pair.numbers[1, 2] = 7
    mirror.send()
    assert gathered(Pair, mirror.device, "pair.").numbers[1, 2] == 7


def test_what_is_sent_arrives_as_it_is() -> None:
    index = np.array([[3, 1], [2, 0]])
    assert torch.equal(sent(index, torch.device("cpu")), torch.tensor([[3, 1], [2, 0]]))
    there = torch.rand(3)
    assert sent(there, torch.device("cpu")) is there
