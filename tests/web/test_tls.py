import shutil
import subprocess
from pathlib import Path

import pytest
from visavis.stream.errors import SetupError
from visavis.web.tls import ListenOptions, tls_context


def make_pair(folder: Path, cert: str, key: str) -> None:
    """A self-signed pair, made by the same tool that users are told to use."""
    command = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost"
    subprocess.run(
        ["openssl", *command.split(), "-keyout", folder / key, "-out", folder / cert],
        check=True,
        capture_output=True,
    )


def test_without_a_certificate_plain_http_is_served(tmp_path: Path) -> None:
    assert tls_context(ListenOptions(), tmp_path) is None


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
@pytest.mark.parametrize(("cert", "key"), [("cert.pem", "key.pem"), ("host.pem", "host-key.pem")])
def test_a_pair_in_the_folder_is_taken(tmp_path: Path, cert: str, key: str) -> None:
    make_pair(tmp_path, cert, key)
    assert tls_context(ListenOptions(), tmp_path) is not None


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_named_files_win(tmp_path: Path) -> None:
    make_pair(tmp_path, "a", "b")
    options = ListenOptions(cert=str(tmp_path / "a"), key=str(tmp_path / "b"))
    assert tls_context(options, tmp_path / "none") is not None


def test_a_certificate_that_cannot_be_used_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "cert.pem").write_text("nonsense")
    (tmp_path / "key.pem").write_text("nonsense")
    with pytest.raises(SetupError, match="make a pair with scripts/make_cert"):
        tls_context(ListenOptions(), tmp_path)


def test_a_certificate_needs_its_key() -> None:
    with pytest.raises(ValueError, match="give both"):
        ListenOptions(cert="a.pem")
