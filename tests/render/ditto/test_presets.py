from pathlib import Path

import pytest
from visavis.render.ditto.presets import LIVE, OFFLINE, check_latency, check_options, shape_of
from visavis.stream.errors import UsageError


@pytest.mark.parametrize(
    ("name", "frames"), [("low-latency", 4), ("balanced", 10), ("reference", 20), ("offline", 78)]
)
def test_each_preset_is_a_shape_of_windows_and_its_delay_is_known(name: str, frames: int) -> None:
    assert shape_of(name).delay == frames


def test_what_is_taken_when_nobody_chooses_is_there() -> None:
    assert check_latency(LIVE) == LIVE
    assert check_latency(OFFLINE) == OFFLINE


def test_another_latency_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="no latency 'none'; choose one of low-latency, balanced, ref"):
        check_latency("none")
    with pytest.raises(UsageError, match="choose one of"):
        shape_of("none")


@pytest.mark.parametrize(
    "options", [{"weights": "random:1", "latency": None}, {"weights": None, "latency": "balanced"}]
)
@pytest.mark.parametrize("engine", ["rig", "auto", "some.module:Engine"])
def test_options_of_ditto_are_refused_for_another_engine(engine: str, options: dict[str, str | None]) -> None:
    with pytest.raises(UsageError, match=f"belongs to --engine ditto, not to {engine}; leave it out"):
        check_options(engine, **options)


def test_ditto_takes_its_options() -> None:
    check_options("ditto", weights="random:1", latency="reference")
    check_options("rig", weights=None, latency=None)
    with pytest.raises(UsageError, match="choose one of"):
        check_options("ditto", weights=None, latency="fast")


def test_weights_are_a_folder_or_random(tmp_path: Path) -> None:
    check_options("ditto", weights=str(tmp_path), latency=None)
    with pytest.raises(UsageError, match="none is no folder; give the folder of the files, or random:SEED"):
        check_options("ditto", weights=str(tmp_path / "none"), latency=None)
