import errno
import shutil
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import BinaryIO, Self, cast

import pytest
from filelock import FileLock
from huggingface_hub import close_session
from support.hub import COMMIT, LocalHub, local_hub
from visavis.render.hub import LOCK, Hub, fetch
from visavis.render.weights import (
    INCOMPLETE,
    MANIFEST,
    RECORD,
    REPOSITORY,
    State,
    check_file,
    file_named,
    read_record,
)
from visavis.stream.errors import SetupError, UsageError

FILE = file_named("stitch_network")
OTHER = file_named("configuration")
CONTENT = bytes(range(256)) * 4096


@pytest.fixture(autouse=True)
def _fresh_connections() -> Iterator[None]:
    yield
    close_session()


@pytest.fixture
def hub() -> Iterator[LocalHub]:
    with local_hub({FILE.path: CONTENT, OTHER.path: b"options"}, REPOSITORY) as server:
        yield server


def quick(hub: LocalHub, revision: str = "main") -> Hub:
    return Hub(hub.url, revision, pause=lambda _seconds: None)


def counted(told: list[int]) -> Callable[[int, int], Callable[[int], None]]:
    def start(done: int, total: int) -> Callable[[int], None]:
        told.extend((total, done))
        return told.append

    return start


def get(hub: LocalHub, folder: Path, told: list[int] | None = None) -> Path:
    return fetch([FILE], folder, quick(hub), counted([] if told is None else told))[0]


def fails(hub: Hub, folder: Path) -> str:
    with pytest.raises(SetupError) as caught:
        fetch([FILE], folder, hub, counted([]))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_files_arrive_in_the_layout_of_the_hub_with_their_hashes_recorded(
    hub: LocalHub, tmp_path: Path
) -> None:
    told: list[int] = []
    paths = fetch([FILE, OTHER], tmp_path / "new", quick(hub), counted(told))
    assert [path.read_bytes() for path in paths] == [CONTENT, b"options"]
    record = read_record(tmp_path / "new")
    assert record.files[FILE.path].sha256 == hub.hash_of(FILE.path)
    assert record.files[FILE.path].commit == COMMIT
    assert check_file(FILE, tmp_path / "new", record).state is State.GOOD
    total, done, *blocks = told
    assert total == done + sum(blocks) == len(CONTENT) + len(b"options")


def test_a_file_that_is_there_is_not_fetched_again(hub: LocalHub, tmp_path: Path) -> None:
    get(hub, tmp_path)
    hub.requests.clear()
    get(hub, tmp_path)
    assert [request for request in hub.requests if request.startswith("GET")] == []


def test_a_file_copied_by_hand_is_recorded_when_the_hub_knows_it(hub: LocalHub, tmp_path: Path) -> None:
    path = tmp_path / FILE.path
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    get(hub, tmp_path)
    assert not any(request.startswith("GET") for request in hub.requests)
    assert FILE.path in read_record(tmp_path).files


def test_a_damaged_file_is_fetched_again(hub: LocalHub, tmp_path: Path) -> None:
    path = get(hub, tmp_path)
    path.write_bytes(CONTENT[:-1] + b"!")
    assert get(hub, tmp_path).read_bytes() == CONTENT


def test_a_broken_connection_is_gone_on_with_at_the_byte_where_it_broke(
    hub: LocalHub, tmp_path: Path
) -> None:
    hub.break_after = 3
    assert get(hub, tmp_path).read_bytes() == CONTENT
    size = len(CONTENT)
    assert hub.ranges == [f"bytes={size // 2}-", f"bytes={size * 3 // 4}-", f"bytes={size * 7 // 8}-"]


def test_a_later_call_goes_on_where_the_last_one_gave_up(hub: LocalHub, tmp_path: Path) -> None:
    part = tmp_path / f"{FILE.path}.{hub.hash_of(FILE.path)[:12]}.incomplete"
    part.parent.mkdir(parents=True)
    part.write_bytes(CONTENT[:1000])
    told: list[int] = []
    assert get(hub, tmp_path, told).read_bytes() == CONTENT
    assert hub.ranges == ["bytes=1000-"]
    assert told[:2] == [len(CONTENT), 1000]
    assert not part.exists()


def test_a_hub_without_ranges_is_read_from_the_start(hub: LocalHub, tmp_path: Path) -> None:
    hub.no_ranges, hub.break_after = True, 1
    told: list[int] = []
    assert get(hub, tmp_path, told).read_bytes() == CONTENT
    assert told[0] == sum(told[1:])


def test_a_connection_that_never_gets_on_is_given_up_and_the_half_is_kept(
    hub: LocalHub, tmp_path: Path
) -> None:
    hub.break_after = 1000
    line = fails(quick(hub), tmp_path)
    assert "run the command again, it goes on from there" in line
    finding = check_file(FILE, tmp_path, read_record(tmp_path))
    assert finding.state is State.HALF
    assert "visavis weights fetch --only stitch_network" in finding.problem
    hub.break_after = 0
    assert get(hub, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize(
    "forged", [CONTENT[:-1] + b"!", CONTENT + b"more", CONTENT * 3], ids=["changed", "longer", "much longer"]
)
def test_a_file_with_another_hash_is_set_aside(hub: LocalHub, tmp_path: Path, forged: bytes) -> None:
    hub.forged[FILE.path] = forged
    assert "another hash than it should" in fails(quick(hub), tmp_path)
    assert not (tmp_path / FILE.path).exists()
    assert (tmp_path / f"{FILE.path}.rejected").is_file()
    assert read_record(tmp_path).files == {}
    hub.forged.clear()
    assert get(hub, tmp_path).read_bytes() == CONTENT


def test_a_hash_in_the_manifest_beats_the_one_of_the_hub(hub: LocalHub, tmp_path: Path) -> None:
    known = replace(FILE, sha256="0" * 64)
    with pytest.raises(SetupError, match="another hash"):
        fetch([known], tmp_path, quick(hub), counted([]))


@pytest.mark.parametrize("content", [CONTENT, CONTENT[:-1] + b"!"], ids=["right", "wrong"])
def test_a_small_file_outside_lfs_is_checked_by_the_hash_of_git(
    hub: LocalHub, tmp_path: Path, content: bytes
) -> None:
    hub.outside_lfs.add(FILE.path)
    hub.forged[FILE.path] = content
    if content == CONTENT:
        assert get(hub, tmp_path).read_bytes() == CONTENT
    else:
        assert "another hash" in fails(quick(hub), tmp_path)


@pytest.mark.parametrize(
    ("status", "code", "line"),
    [
        (401, "", "wants a login for stitch_network.pth (401)"),
        (401, "RepoNotFound", "run hf auth login"),
        (403, "GatedRepo", "wants a login"),
        (404, "EntryNotFound", f"has no {FILE.path} at revision main (404)"),
        (404, "RevisionNotFound", "has no revision main; leave --revision out"),
        (503, "", "answers 503"),
    ],
)
def test_what_the_hub_refuses_is_one_line(
    hub: LocalHub, tmp_path: Path, status: int, code: str, line: str
) -> None:
    hub.status, hub.error_code = status, code
    assert line in fails(quick(hub), tmp_path)


def test_a_revision_that_is_not_there_is_told(hub: LocalHub, tmp_path: Path) -> None:
    assert "at revision v9 (404)" in fails(quick(hub, "v9"), tmp_path)


def test_a_login_page_is_no_hub(hub: LocalHub, tmp_path: Path) -> None:
    hub.page = b"<!DOCTYPE html><title>Sign in</title>"
    assert "is no hub" in fails(quick(hub), tmp_path)


def test_a_login_page_in_place_of_a_file_is_not_kept(hub: LocalHub, tmp_path: Path) -> None:
    hub.page_at_get = b"<!DOCTYPE html><title>Sign in</title>"
    assert "sends a web page for stitch_network.pth" in fails(quick(hub), tmp_path)
    assert list((tmp_path / FILE.path).parent.iterdir()) == []


def test_a_hub_that_names_no_hash_is_not_believed(hub: LocalHub, tmp_path: Path) -> None:
    hub.no_hash = True
    assert "names no hash" in fails(quick(hub), tmp_path)


def test_offline_is_one_line_that_says_what_else_works(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        line = fails(Hub(f"http://127.0.0.1:{taken.getsockname()[1]}"), tmp_path)
    assert "cannot be reached" in line
    assert "copy the files from another one" in line


def test_the_hubs_own_offline_switch_is_named(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert "HF_HUB_OFFLINE keeps stitch_network.pth from being fetched" in fails(quick(hub), tmp_path)


def test_a_disk_without_room_is_found_before_the_first_byte(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=500_000))
    assert "has room for 0 MB, and 1 MB are to come" in fails(quick(hub), tmp_path)
    assert not any(request.startswith("GET") for request in hub.requests)


class FullDisk:
    """A file on a disk that has `room` for so many bytes more."""

    def __init__(self, file: BinaryIO, room: int) -> None:
        self.file = file
        self.room = room

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def tell(self) -> int:
        return self.file.tell()

    def write(self, block: bytes) -> None:
        self.room -= len(block)
        if self.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.file.write(block)


def test_a_disk_that_fills_up_keeps_what_came(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Path.open

    def full(path: Path, mode: str = "r") -> object:
        file = opened(path, mode)
        return FullDisk(cast(BinaryIO, file), 600_000) if path.suffix == INCOMPLETE and mode == "wb" else file

    monkeypatch.setattr(Path, "open", full)
    assert "lies on a full disk: free some space and run it again" in fails(quick(hub), tmp_path)
    assert get(hub, tmp_path).read_bytes() == CONTENT
    assert len(hub.ranges) == 1


def test_a_closed_folder_is_one_line(hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert "permission denied" in fails(quick(hub), tmp_path / "closed")


def test_a_file_in_the_place_of_the_folder_is_one_line(hub: LocalHub, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    assert "has a file where a folder should be" in fails(quick(hub), tmp_path / "taken")


def test_two_fetches_do_not_write_into_each_other(hub: LocalHub, tmp_path: Path) -> None:
    with FileLock(tmp_path / LOCK):
        assert "another fetch fills" in fails(quick(hub), tmp_path)


def test_a_damaged_record_is_one_line(hub: LocalHub, tmp_path: Path) -> None:
    (tmp_path / RECORD).write_text("{")
    assert "is damaged: delete it" in fails(quick(hub), tmp_path)


def test_a_mirror_never_sees_the_token(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    get(hub, tmp_path)
    assert set(hub.tokens) == {""}


@pytest.mark.parametrize(
    "address", ["hf-mirror.com", "ftp://x", "http://", "http://[::1", "http://x:99999", "http://x/?a"]
)
def test_a_mirror_is_an_address(address: str) -> None:
    with pytest.raises(UsageError, match="is no address; give one such as https"):
        Hub(address)


def test_a_mirror_may_have_a_path_and_a_slash_at_its_end() -> None:
    assert Hub("https://mirror.example:8443/hf/").host == "mirror.example:8443"


def test_without_a_mirror_it_is_the_official_hub() -> None:
    assert Hub().host == "huggingface.co"
    assert {file.path for file in MANIFEST} >= {FILE.path, OTHER.path}
