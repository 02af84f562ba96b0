import pytest
import torch
from support import tiny
from visavis.render.ditto import bench_memory
from visavis.render.ditto.bench_memory import memory_of
from visavis.render.ditto.core.memory import StayingMemory
from visavis.render.ditto.delay import WindowShape


class Leaving(StayingMemory):
    """Notes what is asked of it."""

    def __init__(self, *, can: bool = True) -> None:
        self.log: list[str] = []
        self._can = can

    def leave(self) -> bool:
        self.log.append("leave")
        return self._can

    def come_back(self) -> None:
        self.log.append("come back")


def test_without_a_card_networks_alone_are_counted() -> None:
    networks = tiny.networks()
    found = memory_of(networks, WindowShape(5, 3), (1, 2), (96, 160))
    held = sum(one.nbytes for one in (*networks.warp.parameters(), *networks.warp.buffers()))
    assert found["warp_bytes"] == held > 0
    assert set(found) == {"warp_bytes", "decoder_bytes"}


def test_what_is_away_is_counted_while_it_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    leaving = Leaving()

    def settled() -> dict[str, int]:
        leaving.log.append("count")
        return {"card_bytes": 5}

    monkeypatch.setattr(bench_memory, "settled_memory", settled)
    found = bench_memory._away_and_back(leaving)
    assert leaving.log == ["leave", "count", "come back"] * 2
    assert found["offloaded_card_bytes"] == 5
    assert min(found["offload_ms"], found["back_ms"]) >= 0
    assert bench_memory._away_and_back(Leaving(can=False)) == {}
    assert not torch.cuda.is_initialized()
