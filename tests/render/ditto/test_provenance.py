import logging
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from msgspec import structs
from support import tiny
from visavis.render import register
from visavis.render.ditto import engine as module
from visavis.render.ditto import provenance
from visavis.render.ditto.checkpoints import RandomWeights, Source
from visavis.render.ditto.delay import WindowShape
from visavis.render.ditto.provenance import Provenance, digest_at, digest_of, mismatch


def test_weights_are_told_apart_by_name_shape_and_value() -> None:
    one = {"a": {"x": torch.zeros(2), "y": torch.ones(1)}}
    others = [
        {"b": one["a"]},
        {"a": {"x": torch.zeros(2), "z": torch.ones(1)}},
        {"a": {"x": torch.zeros(1, 2), "y": torch.ones(1)}},
        {"a": {"x": torch.zeros(2), "y": torch.full((1,), 2.0)}},
    ]
    assert digest_of(one) == digest_of({"a": dict(reversed(one["a"].items()))})
    assert len({digest_of(states) for states in [one, *others]}) == 5


def test_the_digest_of_weights_is_what_an_avatar_registered_with_them_remembers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def load(name: str, source: Source, *, keep: bool = True) -> dict[str, torch.Tensor]:
        return {f"{name}.x": torch.full((2,), float(len(repr(source))))}

    for one in (provenance, register):
        monkeypatch.setattr(one, "load", load)
    monkeypatch.setattr(register, "_built", lambda kind, state: state)
    assert register.load_extractors("random:1").digest == digest_at(RandomWeights(1))


def test_a_folder_without_what_looks_at_faces_has_no_digest(tmp_path: Path) -> None:
    assert digest_at(tmp_path) == ""
    (tmp_path / "appearance_extractor.pth").write_bytes(b"damaged")
    (tmp_path / "motion_extractor.pth").write_bytes(b"damaged")
    assert digest_at(tmp_path) == ""


@pytest.mark.parametrize(("registered", "present"), [("a", "a"), ("", "a"), ("a", ""), ("", "")])
def test_the_same_or_unknown_weights_are_no_mismatch(registered: str, present: str) -> None:
    assert mismatch("ada", registered, present) == ""


def test_an_avatar_that_other_weights_saw_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    avatar = tiny.avatar()
    assert avatar.manifest.weights == ""
    seen = replace(avatar, manifest=structs.replace(avatar.manifest, weights="others"))
    one = Provenance("ours")
    for _ in range(2):
        one.check(avatar)
        one.check(seen)
    Provenance("others").check(seen)
    (line,) = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert f"avatar {seen.name} was registered with other weights" in line
    assert f"visavis avatar remove {seen.name}" in line


def test_an_engine_warns_of_an_avatar_that_its_weights_did_not_see(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "digest_at", lambda source: f"those of {source}")
    shape = WindowShape(hop=2, fuse=2)
    engine = module.DittoEngine(tiny.networks(), source=RandomWeights(1), shape=shape, steps=tiny.STEPS)
    engine.warm()
    avatar = tiny.avatar()
    for slot, weights in enumerate(("others", f"those of {RandomWeights(1)}")):
        manifest = structs.replace(avatar.manifest, weights=weights, name=f"face-{slot}")
        engine.open(slot, replace(avatar, manifest=manifest), size=(720, 1280), seed=1, index=0)
    assert ["face-0" in line for line in caplog.messages if "other weights" in line] == [True]
