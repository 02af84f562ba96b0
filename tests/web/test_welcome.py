import pytest
from visavis.web import welcome as welcome_module
from visavis.web.auth import AuthOptions
from visavis.web.config import Config
from visavis.web.devices import CPU, Device
from visavis.web.tls import ListenOptions
from visavis.web.welcome import page_addresses, welcome

OPEN = Config(listen=ListenOptions(host="0.0.0.0"), auth=AuthOptions(token="open-sesame"))


def addresses_of_two_families(ipv4: bool, ipv6: bool) -> list[str]:
    return ["10.0.0.5"] * ipv4 + ["fd00::5"] * ipv6


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("127.0.0.1", ["http://127.0.0.1:80/"]),
        ("::1", ["http://[::1]:80/"]),
        ("0.0.0.0", ["http://studio:80/", "http://10.0.0.5:80/"]),
        ("::", ["http://studio:80/", "http://[fd00::5]:80/"]),
    ],
)
def test_each_way_to_the_machine_is_an_address(
    monkeypatch: pytest.MonkeyPatch, host: str, found: list[str]
) -> None:
    monkeypatch.setattr(welcome_module, "host_addresses", addresses_of_two_families)
    monkeypatch.setattr("socket.gethostname", lambda: "studio")
    assert list(page_addresses(ListenOptions(host=host), 80, secure=False)) == found


def test_a_certificate_makes_it_https() -> None:
    assert page_addresses(ListenOptions(), 80, secure=True) == ("https://127.0.0.1:80/",)


def test_on_this_machine_alone_the_address_and_what_draws_is_all() -> None:
    said = welcome(Config(), ["http://a/"], [CPU])
    assert said == "visavis is ready: open http://a/\n1 worker on the CPU\n"


def test_each_gpu_is_named() -> None:
    said = welcome(Config(), ["http://a/"], [Device("GPU 0", "0"), Device("GPU 1", "1")])
    assert said.splitlines()[1] == "2 workers on GPU 0, GPU 1"


def test_each_address_has_its_line_and_the_token_stays_unsaid() -> None:
    lines = welcome(OPEN, ["https://a/", "https://b/"], [CPU]).splitlines()
    assert lines[0] == "visavis is ready: open https://a/"
    assert lines[1].endswith("  or https://b/")
    assert "?token=YOUR_TOKEN" in lines[3]
    assert len(lines) == 4
    assert "open-sesame" not in "".join(lines)


def test_without_a_certificate_the_way_to_one_is_told() -> None:
    assert "scripts/make_cert" in welcome(OPEN, ["http://a/"], [CPU]).splitlines()[-1]
