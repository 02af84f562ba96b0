import os
from pathlib import Path

import pytest
from msgspec import structs
from support import tiny
from visavis.render.avatar import PREVIEW
from visavis.render.weights import LIVE, MANIFEST, RECORD, file_named
from visavis.stream.errors import SetupError
from visavis.web import checkup_ditto
from visavis.web.card import Facts, Trial
from visavis.web.checkup_ditto import avatars, card, eight_bits, folder, low_bits, source_of, weights
from visavis.web.findings import Level

FACTS = Facts("2.13.0", "13.0", "Some Card", "580.1", 80 << 30, 79 << 30, "", "digest")
NEEDED = pytest.mark.parametrize(("needed", "level"), [(True, Level.FAULT), (False, Level.NOTE)])


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VISAVIS_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def put(place: Path, size: int) -> Path:
    """A file of `size` bytes that takes no room."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.touch()
    os.truncate(place, size)
    return place


def filled(home: Path) -> Path:
    for file in MANIFEST:
        put(home / "weights" / file.path, file.bytes or 1)
    return home / "weights"


def test_a_home_that_is_not_there_yet_is_no_trouble_and_not_made(home: Path) -> None:
    assert folder().level is Level.OK
    assert not home.exists()
    home.mkdir()
    assert (folder().level, folder().said) == (Level.OK, str(home))


def test_a_home_that_is_no_folder_is_noted(home: Path) -> None:
    home.write_bytes(b"")
    assert folder().level is Level.NOTE
    assert "VISAVIS_HOME" in folder().advice


def test_an_account_without_a_place_for_data_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISAVIS_HOME")
    monkeypatch.setenv("HOME", "nowhere")
    monkeypatch.setenv("XDG_DATA_HOME", "")
    found = folder()
    assert found.level is Level.NOTE
    assert "set VISAVIS_HOME" in found.advice


@NEEDED
def test_no_weights_at_all_are_told_with_the_command(needed: bool, level: Level, tmp_path: Path) -> None:
    found = weights(None, needed=needed)
    assert (found.level, found.advice) == (level, "visavis weights fetch")
    assert weights(str(tmp_path), needed=needed).advice == f"visavis weights fetch --to {tmp_path}"


def test_all_weights_of_the_right_sizes_are_well(home: Path) -> None:
    filled(home)
    found = weights(None, needed=True)
    assert found.level is Level.OK
    assert f"{len(MANIFEST)} of {len(MANIFEST)} files, 2.2 GB" in found.said


@NEEDED
def test_half_a_file_and_a_missing_one_are_named(home: Path, needed: bool, level: Level) -> None:
    place = filled(home)
    put(place / file_named("lmdm").path, 5)
    (place / file_named("decoder").path).unlink()
    found = weights(None, needed=needed)
    assert found.level is level
    assert "lmdm has 5 bytes instead of 191,247,715" in found.said
    assert "decoder is missing" in found.said


def test_what_only_registering_takes_is_no_fault_of_a_server(home: Path) -> None:
    assert "motion_extractor" not in LIVE
    (filled(home) / file_named("motion_extractor").path).unlink()
    assert weights(None, needed=True).level is Level.NOTE


def test_a_twin_may_have_another_size(home: Path) -> None:
    file = file_named("decoder")
    place = filled(home)
    (place / file.path).unlink()
    assert file.twin is not None
    put(place / file.twin.path, 7)
    assert weights(None, needed=True).level is Level.OK


@NEEDED
def test_a_damaged_record_is_told(home: Path, needed: bool, level: Level) -> None:
    (filled(home) / RECORD).write_text("{")
    found = weights(None, needed=needed)
    assert found.level is level
    assert "delete it" in found.advice


def test_random_weights_are_noted() -> None:
    assert weights("random:1", needed=True).level is Level.NOTE


@NEEDED
def test_without_torch_it_says_what_to_install(needed: bool, level: Level) -> None:
    found, facts = card(None, needed=needed)
    assert (found.level, found.advice, facts) == (level, "pip install 'visavis[ditto]'", None)


@NEEDED
def test_a_torch_that_does_not_load_is_told_with_what_it_said(needed: bool, level: Level) -> None:
    def broken() -> Facts:
        raise SetupError("torch cannot be loaded: libcuda is missing")

    found, facts = card(broken, needed=needed)
    assert (found.level, facts) == (level, None)
    assert "libcuda is missing" in found.said


def test_a_card_that_computes_is_named_with_driver_and_memory() -> None:
    found, facts = card(lambda: FACTS, needed=True)
    assert (found.level, facts) == (Level.OK, FACTS)
    for part in ("2.13.0", "Some Card", "580.1", "CUDA 13.0", "79.0 of 80.0 GiB"):
        assert part in found.said


@NEEDED
def test_a_card_that_computes_wrongly_is_told(needed: bool, level: Level) -> None:
    found, _ = card(lambda: structs.replace(FACTS, problem="no kernel image"), needed=needed)
    assert found.level is level
    assert "Some Card fails: no kernel image" in found.said


def test_a_machine_without_a_card_is_noted_even_where_one_is_needed() -> None:
    found, _ = card(lambda: structs.replace(FACTS, card=None), needed=True)
    assert (found.level, found.advice) == (Level.NOTE, checkup_ditto.SLOW)


def test_own_avatars_are_counted_with_what_draws_them(home: Path) -> None:
    (nothing,) = avatars()
    assert nothing.level is Level.OK
    assert nothing.said == f"none of your own in {home / 'avatars'}"
    tiny.write("ada")
    (one,) = avatars()
    assert (one.level, one.said) == (Level.OK, "1 of your own: ada (ditto)")


def test_a_damaged_avatar_is_noted_with_its_name() -> None:
    (tiny.write("ada") / PREVIEW).unlink()
    tiny.write("eve")
    well, damaged = avatars()
    assert well.said == "1 of your own: eve (ditto)"
    assert damaged.level is Level.NOTE
    assert damaged.said.startswith("ada is left out: ")


def test_an_avatar_that_other_weights_saw_is_noted() -> None:
    tiny.write("ada")
    assert [one.level for one in avatars("tiny")] == [Level.OK]
    (other,) = avatars("official")
    assert other.level is Level.NOTE
    assert "ada was registered with other weights" in other.said
    assert "visavis avatar remove ada" in other.advice


def test_weights_are_compared_only_where_an_avatar_remembers_some(home: Path) -> None:
    assert source_of(None) is source_of("random:1") is None
    tiny.write("ada")
    assert source_of(None) == str(home / "weights")
    assert source_of("random:1") == "random:1"


def test_a_server_in_8_bits_needs_a_card_and_a_face() -> None:
    assert low_bits(None, FACTS) == []
    (found,) = low_bits("int8", structs.replace(FACTS, card=None))
    assert (found.level, found.advice) == (Level.FAULT, "leave out --low-bits")
    (found,) = low_bits("int8", FACTS)
    assert found.level is Level.FAULT
    assert "visavis avatar add" in found.advice
    tiny.write("anna")
    (found,) = low_bits("int8", FACTS)
    assert found.level is Level.OK


def asked(avatar: str, weights: str | None) -> list[Trial]:
    assert (avatar, weights) == ("anna", "random:1")
    return [Trial("int8", 30, 46.2, 0.99991, True, 1.5, 1.1)]


def test_8_bits_are_measured_on_the_first_face_of_ones_own() -> None:
    tiny.write("anna")
    tiny.write("bert")
    (found,) = eight_bits(asked, FACTS, "random:1")
    assert found.level is Level.OK
    for said in ("int8 on anna", "1.10 instead of 1.50 ms", "46.2 dB", "--low-bits int8; 30 layers"):
        assert said in found.said


def test_8_bits_that_are_too_far_off_are_advised_against() -> None:
    def far(avatar: str, weights: str | None) -> list[Trial]:
        return [
            Trial("e4m3", 27, 42.4, 0.9999, True, 1.5, 1.2),
            Trial("int8", 33, 39.9, 0.9998, False, 1.5, 1.1),
        ]

    tiny.write("anna")
    near, far_off = eight_bits(far, FACTS, None)
    assert (near.level, near.advice) == (Level.OK, "")
    assert far_off.level is Level.NOTE
    assert "do without int8" in far_off.advice


def test_8_bits_are_measured_only_where_they_could_be_used() -> None:
    (found,) = eight_bits(asked, FACTS, "random:1")
    assert "visavis avatar add" in found.advice
    tiny.write("anna")
    for facts in (None, structs.replace(FACTS, card=None), structs.replace(FACTS, problem="broken")):
        (found,) = eight_bits(asked, facts, "random:1")
        assert found.level is Level.NOTE
        assert "only a GPU" in found.said


def test_8_bits_that_cannot_be_measured_are_no_fault() -> None:
    def fails(avatar: str, weights: str | None) -> list[Trial]:
        raise SetupError("the card is full")

    tiny.write("anna")
    (found,) = eight_bits(fails, FACTS, None)
    assert found.level is Level.NOTE
    assert "the card is full" in found.said
