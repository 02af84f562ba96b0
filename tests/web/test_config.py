from dataclasses import fields
from pathlib import Path

import pytest
from visavis.stream.errors import SetupError, UsageError
from visavis.web import config
from visavis.web.config import Config, load_config
from visavis.web.workers import WorkerOptions

FULL = """
[listen]
port = 9000
[sessions]
avatar = "marcus"
max_sessions = 2
[webrtc]
ice_servers = ["stun:stun.example"]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "visavis.toml"
    path.write_text(text)
    return path


def test_the_built_in_values_are_those_of_the_manual() -> None:
    loaded = load_config(None, {}, {})
    assert loaded == Config()
    assert (loaded.listen.host, loaded.listen.port) == ("127.0.0.1", 8080)
    assert (loaded.worker.engine, loaded.sessions.avatar) == ("auto", "ruby")


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, FULL)
    environment = {"VISAVIS_PORT": "9001", "VISAVIS_AVATAR": "ruby", "HOME": "x"}
    loaded = load_config(path, environment, {"port": 9002, "engine": None})
    assert loaded.listen.port == 9002
    assert loaded.sessions.avatar == "ruby"
    assert loaded.sessions.max_sessions == 2
    assert loaded.webrtc.ice_servers == ("stun:stun.example",)


def test_a_ditto_and_what_belongs_to_it_can_come_from_each_place(tmp_path: Path) -> None:
    path = written(tmp_path, "[worker]\nengine = 'ditto'\nweights = 'official'\nlatency = 'reference'\n")
    loaded = load_config(path, {"VISAVIS_WEIGHTS": "random:1"}, {"latency": "low-latency"})
    assert loaded.worker == WorkerOptions("ditto", "random:1", "low-latency")


@pytest.mark.parametrize(("written_as", "devices"), [("2", 2), ("'0,1'", "0,1"), ("'auto'", "auto")])
def test_devices_are_a_number_or_a_list_in_words(tmp_path: Path, written_as: str, devices: str | int) -> None:
    assert (
        load_config(written(tmp_path, f"[worker]\ndevices = {written_as}\n"), {}, {}).worker.devices
        == devices
    )
    assert load_config(None, {"VISAVIS_DEVICES": str(devices)}, {}).worker.devices == str(devices)


def test_the_folder_of_avatars_and_weights_is_no_option() -> None:
    assert load_config(None, {"VISAVIS_HOME": "x"}, {}) == Config()


def test_lists_in_the_environment_are_separated_by_commas() -> None:
    loaded = load_config(None, {"VISAVIS_ORIGINS": "https://a.example, https://b.example"}, {})
    assert loaded.auth.origins == ("https://a.example", "https://b.example")


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("[listen]\nprot = 1", r"\[listen\] has no key prot; did you mean port in \[listen\]\?"),
        ("[sessions]\nport = 1", r"\[sessions\] has no key port; did you mean port in \[listen\]\?"),
        ("[audio]\nrate = 1", "audio is no table"),
        ("port = 1", "port is no table"),
        ("[listen", "is no TOML"),
        ('[listen]\nport = "many"', "port"),
        ("[listen]\nport = 70000", "port must lie between 0 and 65535"),
        ("[listen]\ncert = 'a.pem'", "give both"),
        ("[sessions]\nmax_sessions = -1", "cannot be negative"),
        ("[sessions]\nidle_close_s = 0", "at least 1"),
        ("[worker]\nlatency = 'fast'", "choose one of low-latency, balanced, reference, offline"),
        ("[worker]\nengine = 'rig'\nweights = 'random:1'", "--weights belongs to --engine ditto, not to rig"),
        ("[worker]\ndevices = '0,0'", "names a GPU twice"),
        ("[worker]\ndevices = [0, 1]", r"\$\.worker\.devices"),
        ("[webrtc]\nice_servers = ['http://x']", "does not begin with stun:"),
    ],
)
def test_a_mistake_in_the_file_is_told_with_its_place(tmp_path: Path, text: str, advice: str) -> None:
    with pytest.raises(UsageError, match=advice):
        load_config(written(tmp_path, text), {}, {})


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_config(tmp_path / "none.toml", {}, {})


def test_an_unknown_variable_of_ours_is_told() -> None:
    with pytest.raises(UsageError, match=r"VISAVIS_PROT is no option; did you mean port"):
        load_config(None, {"VISAVIS_PROT": "1"}, {})


def test_an_address_that_others_can_reach_needs_a_token() -> None:
    with pytest.raises(SetupError, match="give --token"):
        load_config(None, {}, {"host": "0.0.0.0"})
    assert load_config(None, {}, {"host": "0.0.0.0", "token": "long-enough"}).listen.host == "0.0.0.0"


def test_names_are_unique_over_all_tables() -> None:
    tables = [type(getattr(Config(), entry.name)) for entry in fields(Config)]
    names = [option.name for table in tables for option in fields(table)]
    assert sorted(names) == sorted(set(names)) == sorted(config.option_names())


def test_the_manual_at_the_top_of_the_file_names_every_key() -> None:
    assert config.__doc__ is not None
    for name, table in config.option_names().items():
        line = next(line for line in config.__doc__.splitlines() if f"[{table}]" in line)
        assert name in line
