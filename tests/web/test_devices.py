from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from visavis.stream.errors import UsageError
from visavis.web import devices as devices_module
from visavis.web.devices import ANY, CPU, MAX_WORKERS, Device, Gpus, chosen, described, visible_gpus, wanted

TWO = Gpus(("0", "1"))
NONE = Gpus((), "nobody lists one")
LISTED = """GPU 0: NVIDIA H200 (UUID: GPU-1)
  MIG 1g.18gb Device 0: (UUID: MIG-1)
GPU 1: NVIDIA H200 (UUID: GPU-2)
"""


def unasked() -> Gpus:
    raise AssertionError("nobody should look for GPUs")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without nvidia-smi and driver: the folder of its programs, `gpus` beside it being the
    driver's."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(devices_module, "_DRIVER", tmp_path / "gpus")
    return programs


def smi(machine: Path, text: str, code: int = 0) -> None:
    """Put an nvidia-smi there that says `text`."""
    program = machine / "nvidia-smi"
    program.write_text(f"#!/bin/sh\necho '{text}'\nexit {code}\n")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("devices", "entries"),
    [
        ("auto", None),
        ("1", ("cpu",)),
        (3, ("cpu", "cpu", "cpu")),
        ("cpu", ("cpu",)),
        ("cpu, cpu", ("cpu", "cpu")),
        ("0,1", ("0", "1")),
        ("cuda:0", ("0",)),
        ("cuda:3,cpu", ("3", "cpu")),
        ("01,2", ("1", "2")),
    ],
)
def test_the_option_is_a_word_a_list_or_a_number(devices: str | int, entries: tuple[str, ...] | None) -> None:
    assert wanted(devices) == entries


@pytest.mark.parametrize(
    ("devices", "said"),
    [
        ("", "is no list of devices; give auto"),
        ("all", "'all' is no list of devices"),
        ("0,", "is no list of devices"),
        ("0,-1", "is no list of devices"),
        ("gpu:0", "is no list of devices"),
        ("-1", "is no list of devices"),
        (-1, "is no list of devices"),
        ("1.5", "is no list of devices"),
        ("0," + "9" * 5_000, "is no list of devices"),
        ("\u0663,0", "is no list of devices"),
        ("\u0663", "there can be 1 to 64 workers"),
        ("0", "not 0; GPU 0 alone is cuda:0"),
        (0, "not 0; GPU 0 alone is cuda:0"),
        (MAX_WORKERS + 1, "there can be 1 to 64 workers, not 65"),
        ("9" * 5_000, "there can be 1 to 64 workers"),
        (",".join(["cpu"] * 65), "there can be 1 to 64 workers, not 65"),
        ("0,0", "names a GPU twice"),
        ("1,cuda:01", "names a GPU twice"),
    ],
)
def test_what_is_none_of_these_is_told_in_one_line(devices: str | int, said: str) -> None:
    with pytest.raises(UsageError, match=said) as error:
        wanted(devices)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 250


@given(st.text() | st.integers())
def test_any_value_is_taken_or_refused(devices: str | int) -> None:
    try:
        entries = wanted(devices)
    except UsageError:
        return
    assert entries is None or 1 <= len(entries) <= MAX_WORKERS


def test_auto_is_each_gpu_for_a_ditto_and_else_one_worker_and_nobody_looks_further() -> None:
    assert chosen("auto", "ditto", lambda: TWO) == (Device("GPU 0", "0"), Device("GPU 1", "1"))
    assert chosen("auto", "ditto", lambda: NONE) == (CPU,)
    assert chosen("auto", "rig", unasked) == (CPU,)
    assert chosen("auto", "own.module:Engine", unasked) == (ANY,)


def test_a_list_is_those_gpus_and_workers_that_see_none() -> None:
    assert chosen("1,cpu", "ditto", lambda: TWO) == (Device("GPU 1", "1"), Device("the CPU", ""))
    assert chosen(2, "rig", unasked) == (Device("the CPU", ""),) * 2


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (TWO, r"there is no GPU 2 \(2 can be used, numbered from 0\); name others with --devices"),
        (NONE, r"there is no GPU 2 \(nobody lists one\); name others"),
    ],
)
def test_a_gpu_that_is_not_here_is_told(found: Gpus, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        chosen("cuda:2", "rig", lambda: found)


def test_a_worker_sees_its_own_gpu_alone() -> None:
    assert Device("GPU 1", "1").environment({}) == {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": "1",
    }
    assert Device("the CPU", "").environment({})["CUDA_VISIBLE_DEVICES"] == ""
    assert CPU.environment({}) == ANY.environment({}) == {}


def test_who_chose_among_the_gpus_keeps_the_order_they_were_chosen_in() -> None:
    ours = {"CUDA_VISIBLE_DEVICES": "3,1"}
    assert Device("GPU 3", "3").environment(ours) == {"CUDA_VISIBLE_DEVICES": "3"}


def test_devices_in_words() -> None:
    assert described((CPU,)) == "1 worker on the CPU"
    assert described(chosen("cpu,cpu", "rig")) == "2 workers on the CPU"
    assert described(chosen("0,cpu,1", "ditto", lambda: TWO)) == "3 workers on GPU 0, the CPU, GPU 1"


def test_without_program_and_driver_there_is_no_gpu(machine: Path) -> None:
    assert visible_gpus({}) == Gpus((), "nvidia-smi is not installed, and no NVIDIA driver is loaded")


def test_gpus_are_those_that_nvidia_smi_lists_parts_of_them_left_out(machine: Path) -> None:
    smi(machine, LISTED)
    assert visible_gpus({}) == Gpus(("0", "1"), "")


def test_without_the_program_the_driver_is_asked(machine: Path) -> None:
    for name in ("0000:01:00.0", "0000:02:00.0", "0000:03:00.0"):
        (machine.parent / "gpus" / name).mkdir(parents=True)
    assert visible_gpus({}).names == ("0", "1", "2")


def test_a_program_that_fails_says_why_there_is_none(machine: Path) -> None:
    smi(machine, "no talk with the driver", code=9)
    assert visible_gpus({}).why == (
        "nvidia-smi lists none: no talk with the driver, and no NVIDIA driver is loaded"
    )
    (machine.parent / "gpus").mkdir()
    assert visible_gpus({}).why.endswith("and the driver lists none")
    (machine / "nvidia-smi").write_text("no program")
    assert visible_gpus({}).why.startswith("nvidia-smi cannot be asked: ")


@pytest.mark.parametrize(
    ("shown", "names"),
    [
        ("1", ("1",)),
        ("1,0", ("1", "0")),
        ("0,7,1", ("0",)),
        ("-1", ()),
        ("", ()),
        ("0,-1,1", ("0",)),
        ("GPU-2,MIG-1", ("GPU-2", "MIG-1")),
        ("nonsense,0", ()),
    ],
)
def test_only_the_gpus_that_we_are_shown_count(machine: Path, shown: str, names: tuple[str, ...]) -> None:
    smi(machine, LISTED)
    found = visible_gpus({"CUDA_VISIBLE_DEVICES": shown})
    assert found.names == names
    assert bool(found.why) is not bool(names)
