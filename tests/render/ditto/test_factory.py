import pytest
from support.tiny import networks
from visavis.render.ditto import engine as engine_module
from visavis.render.ditto.factory import ditto_engine
from visavis.render.ditto.presets import PRESETS
from visavis.render.ditto.windows import WindowShape
from visavis.stream.clock import FEATURE_HOP
from visavis.stream.errors import SetupError, UsageError


@pytest.mark.parametrize("latency", [None, *PRESETS])
def test_a_latency_by_name_is_the_engines_look_ahead(
    latency: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "load_networks", lambda _source, _device: networks())
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
