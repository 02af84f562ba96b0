import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from support.checkpoints import SEED, content, save, write
from support.tiny_hubert import tiny_hubert
from torch import Tensor, nn
from visavis.render.ditto import kept
from visavis.render.ditto.appearance import AppearanceExtractor, AppearanceSize
from visavis.render.ditto.checkpoints import (
    NETWORKS,
    RandomWeights,
    blank,
    differences,
    inspect,
    load,
    parse_source,
)
from visavis.render.ditto.decoder import Decoder, DecoderSize
from visavis.render.ditto.lmdm import LmdmSize, MotionDecoder
from visavis.render.ditto.random_weights import state_dict
from visavis.render.weights import MANIFEST, file_named
from visavis.stream.errors import SetupError, UsageError, VisavisError

STITCH = file_named("stitch_network")


def tiny_decoder() -> Decoder:
    return Decoder(DecoderSize.tiny())


def tiny_lmdm() -> MotionDecoder:
    return MotionDecoder(LmdmSize.tiny())


def tiny_appearance() -> AppearanceExtractor:
    return AppearanceExtractor(AppearanceSize.tiny())


def equal(first: dict[str, Tensor], second: dict[str, Tensor]) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[key], second[key]) for key in first)


def fails(name: str, folder: Path, network: nn.Module | None = None) -> str:
    with pytest.raises(SetupError) as caught:
        load(name, folder, network=network)
    assert "\n" not in str(caught.value)
    return str(caught.value)


CONTAINERS = pytest.mark.parametrize(
    ("name", "make"),
    [("stitch_network", lambda: None), ("lmdm", tiny_lmdm), ("decoder", tiny_decoder)],
    ids=["entry and prefix", "entry", "spectral norm"],
)


@CONTAINERS
def test_each_official_container_gives_the_weights_of_the_network(
    tmp_path: Path, name: str, make: Callable[[], nn.Module | None]
) -> None:
    network = make()
    write(name, tmp_path, network)
    weights = load(name, tmp_path, network=network)
    assert equal(weights, state_dict(network or blank(name), name, SEED))
    (network or NETWORKS[name]()).load_state_dict(weights, strict=True)


@CONTAINERS
def test_what_was_read_once_is_kept_beside_and_read_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, make: Callable[[], nn.Module | None]
) -> None:
    network = make()
    path = write(name, tmp_path, network)
    first = load(name, tmp_path, network=network)
    assert path.with_suffix(".fp32.safetensors").stat().st_mode == path.stat().st_mode
    monkeypatch.setattr(torch, "load", lambda *_args, **_kwargs: pytest.fail("read again"))
    assert equal(load(name, tmp_path, network=network), first)
    assert [one.name for one in path.parent.iterdir() if "safetensors." in one.name] == []


@pytest.mark.parametrize(
    ("name", "make", "whole"),
    [("lmdm", tiny_lmdm, ".freqs"), ("appearance_extractor", tiny_appearance, "norm")],
)
def test_half_precision_leaves_layers_with_buffers_alone_and_is_kept_on_its_own(
    tmp_path: Path, name: str, make: Callable[[], nn.Module], whole: str
) -> None:
    network = make()
    path = write(name, tmp_path, network)
    full = load(name, tmp_path, network=network)
    for _ in range(2):
        half = load(name, tmp_path, network=network, dtype=torch.float16)
        alone = {key for key in half if half[key].dtype == full[key].dtype}
        assert alone
        assert all(whole in key for key in alone)
        assert {half[key].dtype for key in half.keys() - alone} == {torch.float16}
        assert all(torch.equal(half[key], full[key].to(half[key].dtype)) for key in half)
    assert path.with_suffix(".fp16.safetensors").is_file()


def test_a_network_in_half_precision_computes(tmp_path: Path) -> None:
    network = tiny_appearance()
    network.load_state_dict(
        load("appearance_extractor", RandomWeights(1), network=network, dtype=torch.float16), assign=True
    )
    assert network.eval()(torch.rand(1, 3, 32, 32).half()).isfinite().all()


def test_another_file_in_its_place_is_read_anew(tmp_path: Path) -> None:
    path = write("stitch_network", tmp_path)
    load("stitch_network", tmp_path)
    other = content("stitch_network")
    other["retarget_shoulder"]["module.mlp.0.bias"] += 1
    save(other, path)
    os.utime(path, ns=(1, 1))
    weights = load("stitch_network", tmp_path)
    assert torch.equal(weights["mlp.0.bias"], other["retarget_shoulder"]["module.mlp.0.bias"])


def test_the_same_file_with_another_time_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("stitch_network", tmp_path)
    first = load("stitch_network", tmp_path)
    os.utime(path, ns=(1, 1))
    monkeypatch.setattr(torch, "load", lambda *_args, **_kwargs: pytest.fail("read again"))
    assert equal(load("stitch_network", tmp_path), first)


@pytest.mark.parametrize("damage", [b"", b"junk", b"\xff" * 100])
def test_a_kept_file_that_is_damaged_is_made_again(tmp_path: Path, damage: bytes) -> None:
    path = write("stitch_network", tmp_path)
    first = load("stitch_network", tmp_path)
    copy = path.with_suffix(".fp32.safetensors")
    copy.write_bytes(damage)
    assert equal(load("stitch_network", tmp_path), first)
    assert copy.stat().st_size > 1000


def test_a_kept_file_of_another_size_of_network_is_made_again(tmp_path: Path) -> None:
    path = write("decoder", tmp_path, tiny_decoder())
    load("decoder", tmp_path, network=tiny_decoder())
    assert "it belongs to another version" in fails("decoder", tmp_path)
    assert path.with_suffix(".fp32.safetensors").is_file()


def test_nothing_is_written_where_it_is_not_wanted_and_what_is_kept_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("stitch_network", tmp_path)
    first = load("stitch_network", tmp_path, keep=False)
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    assert equal(load("stitch_network", tmp_path), first)
    monkeypatch.setattr(torch, "load", lambda *_args, **_kwargs: pytest.fail("read again"))
    assert equal(load("stitch_network", tmp_path, keep=False), first)


def test_a_folder_that_cannot_be_written_still_gives_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    write("stitch_network", tmp_path)

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(kept.safetensors.torch, "save_file", refuse)
    assert equal(
        load("stitch_network", tmp_path), state_dict(blank("stitch_network"), "stitch_network", SEED)
    )
    assert "is not kept" in caplog.text


def test_many_at_once_all_get_the_same_weights(tmp_path: Path) -> None:
    write("stitch_network", tmp_path)
    found: list[dict[str, Tensor]] = []
    threads = [
        threading.Thread(target=lambda: found.append(load("stitch_network", tmp_path))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert all(equal(found[0], one) for one in found)


def test_a_plain_state_dict_under_the_name_of_live_portrait_loads(tmp_path: Path) -> None:
    network = tiny_decoder()
    save(content("decoder", network), tmp_path / "liveportrait/base_models/spade_generator.pth")
    assert equal(load("decoder", tmp_path, network=network), state_dict(network, "decoder", SEED))


@pytest.mark.parametrize("name", ["stitch_network", "lmdm"])
def test_a_state_dict_without_its_container_loads(tmp_path: Path, name: str) -> None:
    network = tiny_lmdm() if name == "lmdm" else None
    save(next(iter_state_dicts(content(name, network))), tmp_path / file_named(name).path)
    assert equal(load(name, tmp_path, network=network), state_dict(network or blank(name), name, SEED))


def iter_state_dicts(container: dict[str, Any]) -> Any:
    return (value for value in container.values() if isinstance(value, dict) and value)


def test_weights_from_a_seed_need_no_file() -> None:
    weights = load("stitch_network", RandomWeights(3))
    assert equal(weights, state_dict(blank("stitch_network"), "stitch_network", 3))
    half = load("stitch_network", RandomWeights(3), dtype=torch.float16)
    assert {value.dtype for value in half.values()} == {torch.float16}


def test_each_network_of_the_manifest_is_built_without_memory() -> None:
    for name in NETWORKS:
        assert all(value.is_meta for value in blank(name).state_dict().values())
        assert file_named(name) in MANIFEST


def test_an_unknown_network_is_told_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no network 'face'; choose one of appearance_extractor"):
        load("face", RandomWeights(0))


@pytest.mark.parametrize(("text", "seed"), [("random:0", 0), ("random:4294967295", 4294967295)])
def test_a_source_may_be_a_seed(text: str, seed: int) -> None:
    assert parse_source(text) == RandomWeights(seed)


@pytest.mark.parametrize("text", ["random:", "random:x", "random:-1", "random:4294967296", "random:²"])
def test_a_seed_is_a_number(text: str) -> None:
    with pytest.raises(UsageError, match="needs a number from 0 to 4294967295"):
        parse_source(text)


def test_a_source_may_be_a_folder_and_is_by_itself_the_one_that_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISAVIS_HOME", str(tmp_path))
    folder = tmp_path / "weights"
    with pytest.raises(SetupError, match="holds no weights of Ditto: get them with visavis weights fetch"):
        parse_source(None)
    write("stitch_network", folder)
    assert parse_source(None) == parse_source(str(folder)) == folder


@pytest.mark.parametrize("text", ["nowhere", "pyproject.toml"])
def test_a_source_that_is_no_folder_is_wrong_use(text: str) -> None:
    with pytest.raises(UsageError, match="is no folder; give the folder of the files, or random:SEED"):
        parse_source(text)


def test_looking_into_a_file_counts_what_it_holds(tmp_path: Path) -> None:
    inside = inspect(STITCH, write("stitch_network", tmp_path))
    assert (inside.entries, inside.parameters, inside.dtypes) == (8, 45249, ("float32",))
    assert inside.problems == ()


def test_looking_into_a_file_lists_all_that_differs(tmp_path: Path) -> None:
    value = content("stitch_network")
    shoulder = value["retarget_shoulder"]
    del shoulder["module.mlp.0.bias"]
    shoulder["module.mlp.2.bias"] = torch.zeros(3, dtype=torch.float16)
    shoulder |= {f"more.{index}": torch.zeros(1) for index in range(5)}
    path = save(value, tmp_path / STITCH.path)
    assert inspect(STITCH, path).problems == (
        f"{path} lacks mlp.0.bias",
        f"{path} has unexpected more.0, more.1, more.2 and 2 more",
        f"{path} has other shapes: mlp.2.bias (3,) instead of (128,)",
        f"{path} has other dtypes: mlp.2.bias torch.float16 instead of torch.float32",
    )


def test_looking_into_the_audio_encoder_compares_inputs_and_outputs(tmp_path: Path) -> None:
    path = tmp_path / "hubert.onnx"
    path.write_bytes(tiny_hubert())
    assert inspect(file_named("hubert"), path).problems == ()
    path.write_bytes(tiny_hubert(output="features"))
    with pytest.raises(SetupError, match=r"hubert.onnx has inputs and outputs"):
        inspect(file_named("hubert"), path)


def test_a_file_that_cannot_be_looked_into_is_one_line(tmp_path: Path) -> None:
    for name in ("hubert", "configuration", "decoder"):
        path = tmp_path / file_named(name).path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"junk" * 100)
        with pytest.raises(VisavisError) as caught:
            inspect(file_named(name), path)
        assert str(caught.value).startswith(str(path))
        assert "\n" not in str(caught.value)


def test_no_differences_are_none() -> None:
    table = blank("lmdm").state_dict()
    assert differences(table, table) == []
