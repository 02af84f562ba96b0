import pytest
import torch
from support.tiny import networks
from visavis.render.ditto import factory
from visavis.render.ditto.factory import ditto_engine
from visavis.render.ditto.networks import Networks
from visavis.render.ditto.presets import PRESETS
from visavis.render.ditto.windows import WindowShape
from visavis.stream.clock import FEATURE_HOP
from visavis.stream.errors import SetupError, UsageError


@pytest.mark.parametrize("latency", [None, *PRESETS])
def test_a_latency_by_name_is_the_engines_look_ahead(
    latency: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factory, "load_networks", lambda _source, _device, *, eager: networks())
    hop, fuse = PRESETS[latency or "balanced"]
    spec = ditto_engine("random:1", latency).spec
    assert spec.lookahead == (WindowShape(hop=hop, fuse=fuse).delay + 1) * FEATURE_HOP


def test_what_is_wrong_is_told_before_anything_is_loaded() -> None:
    with pytest.raises(UsageError, match="no latency 'fast'"):
        ditto_engine("random:1", "fast")
    with pytest.raises(UsageError, match="is no folder"):
        ditto_engine("nowhere", "balanced")


def test_a_folder_without_weights_says_how_to_get_them(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISAVIS_HOME", str(tmp_path))
    with pytest.raises(SetupError, match="visavis weights fetch"):
        ditto_engine()


@pytest.mark.parametrize("eager", [False, True])
def test_what_is_loaded_knows_whether_to_capture(eager: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []

    def load(_source: object, _device: object, *, eager: bool) -> Networks:
        seen.append(eager)
        return networks()

    monkeypatch.setattr(factory, "load_networks", load)
    ditto_engine("random:1", eager=eager)
    assert seen == [eager]


def test_the_decoder_is_asked_to_read_8_bits_only_where_that_is_wished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fitted(_networks: Networks, source: object, format: str) -> Networks:
        raise SetupError(f"{format} for {source}")

    monkeypatch.setattr(factory, "load_networks", lambda _source, _device, *, eager: networks())
    monkeypatch.setattr(factory, "with_low_bits", fitted)
    ditto_engine("random:1")
    with pytest.raises(SetupError, match="leave out --low-bits"):
        ditto_engine("random:1", low_bits="int8")
    monkeypatch.setattr(factory, "best_device", lambda: torch.device("cuda"))
    with pytest.raises(SetupError, match="int8 for RandomWeights"):
        ditto_engine("random:1", low_bits="int8")
