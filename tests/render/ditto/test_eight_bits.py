import json
from pathlib import Path

import pytest
import torch
from support import tiny
from visavis.render.ditto import eight_bits
from visavis.render.ditto.checkpoints import RandomWeights
from visavis.render.ditto.core.calibration import Limits
from visavis.render.ditto.core.low_bits import FORMATS, LowBits
from visavis.render.ditto.decoder import Decoder, DecoderSize
from visavis.render.ditto.presets import LOW_BITS
from visavis.render.ditto.random_weights import loaded
from visavis.stream.clock import FEATURE_HZ
from visavis.stream.errors import SetupError


def decoder() -> Decoder:
    return loaded(Decoder(DecoderSize.tiny()), "decoder", tiny.SEED).eval().requires_grad_(False)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VISAVIS_HOME", str(tmp_path))
    return tmp_path


def test_formats_have_the_same_names_for_users() -> None:
    assert set(LOW_BITS) == set(FORMATS)


def test_faces_are_seen_in_motion_and_nothing_stays_behind() -> None:
    networks = tiny.networks()
    features = eight_bits.features_of(networks, tiny.avatar())
    assert features.shape[:3] == (eight_bits.FRAMES, tiny.CELLS, tiny.CELLS)
    assert torch.isfinite(features).all()
    apart = (features[1:] - features[:-1]).abs().amax((1, 2, 3))
    assert (apart > 0).all()
    assert not networks.decoder._forward_pre_hooks


def test_the_voice_it_speaks_with_rises_and_falls() -> None:
    voice = eight_bits.babble(FEATURE_HZ)
    loud = abs(voice).reshape(32, -1).max(1)
    assert voice.shape == (FEATURE_HZ,)
    assert 0.1 < loud.max() < 1
    assert loud.min() < 0.1 * loud.max()


def test_every_format_is_fitted_to_some_frames_and_measured_on_others() -> None:
    found = eight_bits.trials(tiny.networks(), decoder(), tiny.avatar())
    assert [one.format for one in found] == list(FORMATS)
    for one in found:
        assert one.layers > 0
        assert one.decibels > Limits().decibels
        assert one.cosine > 0.999
        assert one.is_close
        assert min(one.sixteen_ms, one.eight_ms) > 0


def test_a_decoder_in_8_bits_draws_nearly_the_same(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.write("anna")
    monkeypatch.setattr(eight_bits, "loaded_network", lambda *_: decoder())
    monkeypatch.setattr(eight_bits, "find_avatar", lambda _: tiny.avatar())
    networks = tiny.networks()
    low = eight_bits.with_low_bits(networks, RandomWeights(1), "int8")
    assert low.warp is networks.warp
    assert low.decoder is not networks.decoder
    kinds = {
        one.weight.dtype
        for one in low.decoder.modules()
        if isinstance(getattr(one, "weight", None), torch.Tensor)
    }
    assert torch.int8 in kinds


def test_a_plan_is_kept_beside_the_weights_and_made_once(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    tiny.write("anna")
    file = home / "decoder.pth"
    monkeypatch.setattr(eight_bits, "loaded_network", lambda *_: decoder())
    monkeypatch.setattr(eight_bits, "find_avatar", lambda _: tiny.avatar())
    monkeypatch.setattr(eight_bits, "find", lambda *_: file)
    monkeypatch.setattr(eight_bits, "load", lambda *_: decoder().state_dict())
    for _ in range(2):
        eight_bits.with_low_bits(tiny.networks(), home, "int8")
    assert (home / "decoder.int8.json").is_file()
    assert sum("being fitted" in line for line in caplog.messages) == 1


def test_without_faces_of_ones_own_there_is_nothing_to_fit_to(home: Path) -> None:
    with pytest.raises(SetupError, match="visavis avatar add"):
        eight_bits.own_faces()


def test_a_torn_face_is_left_out(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    tiny.write("anna")
    (tiny.write("bert") / "tensors.safetensors").write_bytes(b"torn")
    assert [face.name for face in eight_bits.own_faces()] == ["anna"]
    assert "bert is left out" in caplog.text


def test_the_process_tells_what_it_found(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(eight_bits, "loaded_network", lambda *_: decoder())
    monkeypatch.setattr(eight_bits, "load_networks", lambda *_: tiny.networks())
    monkeypatch.setattr(eight_bits, "find_avatar", lambda _: tiny.avatar())
    assert eight_bits.main(["--avatar", "anna", "--weights", "random:1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["format"] for one in found} == set(FORMATS)


def test_the_process_says_what_is_wrong_in_a_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert eight_bits.main(["--avatar", "anna"]) == 1
    assert "visavis weights fetch" in capsys.readouterr().err


def test_a_plan_that_cannot_be_kept_is_used_all_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    eight_bits._keep(LowBits("int8", {}), tmp_path / "gone" / "plan.json", "digest")
    assert "cannot be kept" in caplog.text
