"""The project computes what the reference does, by the expected values in tests/golden/ditto."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "ditto"
QUICK = (
    *("a2m_stub", "cond", "geometry", "lmdm", "motion_stitch", "nets", "opencv4", "opencv5", "schedule"),
    *("wav2feat", "weights", "worker"),
)
FULL_SIZE = ("a2m_real", "chain", "ddim", "decoder", "warp")


def parity(*options: str, golden: Path = GOLDEN) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "parity.py"), "--golden", str(golden), *options]
    every_core = os.environ | {"OMP_NUM_THREADS": str(len(os.sched_getaffinity(0)))}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=every_core)


def test_the_quick_files_pass(tmp_path: Path) -> None:
    out = tmp_path / "parity.json"
    done = parity("--only", *QUICK, "--json", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(out.read_text())
    assert {case["file"] for case in report["cases"]} == set(QUICK)
    assert all(case["error"] <= case["tolerance"] for case in report["cases"])


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL_SIZE)
def test_a_file_of_networks_at_full_size_passes(name: str) -> None:
    done = parity("--only", name)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_networks_as_an_engine_runs_them_pass() -> None:
    done = parity("--core", "--only", "chain", "a2m_real")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_file_is_either_quick_or_of_full_size() -> None:
    assert sorted(QUICK + FULL_SIZE) == sorted(path.stem for path in GOLDEN.glob("*.npz"))


def changed(folder: Path, name: str, array: str, by: float) -> Path:
    """A golden directory of one file, one array of which is `by` off."""
    folder.mkdir()
    shutil.copy(GOLDEN / "cases.json", folder)
    with np.load(GOLDEN / f"{name}.npz") as found:
        arrays = dict(found)
    arrays[array] = arrays[array] + np.float32(by)
    np.savez(folder / f"{name}.npz", **arrays)
    return folder


def test_a_value_that_is_off_is_a_miss(tmp_path: Path) -> None:
    golden = changed(tmp_path / "golden", "cond", "image_emo4.cond", 1e-3)
    done = parity(golden=golden)
    assert done.returncode == 1
    missed = [line for line in done.stdout.splitlines() if line.startswith("MISS")]
    assert len(missed) == 1
    assert "image_emo4.cond" in missed[0]


def test_nan_is_a_miss(tmp_path: Path) -> None:
    golden = changed(tmp_path / "golden", "cond", "image_emo4.cond", float("nan"))
    assert parity(golden=golden).returncode == 1


def test_an_unknown_file_is_refused_with_the_names_there_are() -> None:
    done = parity("--only", "nonsense")
    assert done.returncode == 2
    assert "a2m_real" in done.stderr
