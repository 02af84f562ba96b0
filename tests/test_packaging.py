"""What is installed from a wheel is what stands in the repository."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import visavis
from support.tree import PLANES, ROOT, modules, relative

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]
DATA = [
    (package, pattern) for package, patterns in SETUPTOOLS["package-data"].items() for pattern in patterns
]


def folder_of(package: str) -> Path:
    return ROOT.joinpath(*package.split(".")[1:])


def data_files() -> set[str]:
    """Everything beside the code that a plane carries, by its path in the repository."""
    return {
        relative(path)
        for plane in PLANES
        for path in (ROOT / plane).rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc", ".nbi", ".nbc"}
    }


def test_the_package_list_is_every_folder_with_an_init() -> None:
    inits = [path.parent for path in modules(*PLANES) if path.name == "__init__.py"]
    found = {"visavis"} | {".".join(["visavis", *path.relative_to(ROOT).parts]) for path in inits}
    assert sorted(SETUPTOOLS["packages"]) == sorted(found)


def test_every_folder_with_code_is_a_package() -> None:
    assert [relative(path) for path in modules(*PLANES) if not (path.parent / "__init__.py").is_file()] == []


@pytest.mark.parametrize(("package", "pattern"), DATA)
def test_each_data_pattern_matches_a_file(package: str, pattern: str) -> None:
    assert any(path.is_file() for path in folder_of(package).glob(pattern))


def test_the_version_is_readable_without_importing_anything_else() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", visavis.__version__)
    assert SETUPTOOLS["dynamic"]["version"] == {"attr": "visavis.__version__"}


def test_the_root_holds_no_python_file_but_the_package() -> None:
    assert [path.name for path in ROOT.glob("*.py")] == ["__init__.py"]


def test_the_command_exists() -> None:
    module, _, function = PROJECT["project"]["scripts"]["visavis"].partition(":")
    source = folder_of(module).with_suffix(".py")
    assert re.search(rf"^(async )?def {function}\(", source.read_text("utf-8"), re.MULTILINE)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel of a clean copy, so that leftovers of another build do not get in."""
    copy = tmp_path_factory.mktemp("copy") / "repository"
    copy.mkdir()
    caches = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
    for name in PLANES:
        shutil.copytree(ROOT / name, copy / name, ignore=caches)
    for path in ROOT.iterdir():
        if path.is_file() and not path.name.startswith("."):
            shutil.copy(path, copy)
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(copy / "wheels")]
    command = [sys.executable, "-m", "pip", "wheel", *options, str(copy)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = (copy / "wheels").glob("visavis-*.whl")
    return zipfile.ZipFile(path)


def test_the_wheel_holds_all_code_and_all_data_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    code = {relative(path) for path in modules(*PLANES)} | {"__init__.py", "py.typed"}
    inside = {name.removeprefix("visavis/") for name in wheel.namelist() if name.startswith("visavis/")}
    assert inside == code | data_files()
    assert {name.split("/")[0] for name in wheel.namelist()} == {
        "visavis",
        f"visavis-{visavis.__version__}.dist-info",
    }


def test_the_wheel_carries_the_presenters_the_pages_and_the_viseme_net(wheel: zipfile.ZipFile) -> None:
    inside = set(wheel.namelist())
    for presenter in ("ruby", "marcus"):
        assert {
            f"visavis/render/presenters/{presenter}/{name}" for name in ("avatar.json", "preview.png")
        } <= inside
    assert {"visavis/web/static/index.html", "visavis/render/rig/viseme.onnx"} <= inside


def test_the_wheel_says_its_licence_and_its_needs(wheel: zipfile.ZipFile) -> None:
    metadata = wheel.read(f"visavis-{visavis.__version__}.dist-info/METADATA").decode()
    assert "License-Expression: Apache-2.0" in metadata
    assert "Requires-Dist: numpy" in metadata
    assert any(name.endswith("/licenses/LICENSE") for name in wheel.namelist())
