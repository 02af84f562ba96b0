import shutil
import ssl
import subprocess
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from visavis.stream.errors import SetupError, UsageError
from visavis.web.reach import client_context, server_url, unreachable

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")


def make_pair(folder: Path) -> None:
    command = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost"
    command += " -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem"
    subprocess.run(["openssl", *command.split()], check=True, capture_output=True, cwd=folder)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("localhost:8080", "http://localhost:8080"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        ("https://face.example/base/", "https://face.example/base"),
        ("[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_an_address_may_lack_its_scheme(text: str, url: str) -> None:
    assert server_url(text) == url


@pytest.mark.parametrize(
    "text", ["", "http://", "ftp://h", "h:many", "h:99999", "http://[::1", "a b", "h/?token=x", ":8080"]
)
def test_what_is_no_address_is_told_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="give one such as http"):
        server_url(text)


def test_http_needs_no_certificate_and_a_damaged_one_is_passed_over(tmp_path: Path) -> None:
    assert client_context("http://h", tmp_path) is None
    (tmp_path / "cert.pem").write_text("nonsense")
    assert client_context("https://h", tmp_path) is not None


async def told(url: str, certs: Path) -> str:
    """What is told of a request to `url` that fails."""
    connector = aiohttp.TCPConnector(ssl=client_context(url, certs) or True)
    async with aiohttp.ClientSession(connector=connector) as client:
        with pytest.raises(aiohttp.ClientError) as raised:
            await client.get(url)
    error = unreachable(url, raised.value)
    assert isinstance(error, SetupError)
    return str(error)


@needs_openssl
async def test_a_certificate_is_trusted_only_when_it_is_in_the_folder(tmp_path: Path) -> None:
    make_pair(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    server = TestServer(web.Application(), scheme="https", host="localhost")
    await server.start_server(ssl=context)
    try:
        url = f"https://localhost:{server.port}"
        assert "is not trusted (self-signed certificate); copy" in await told(url, tmp_path / "none")
        assert "needs https://" in await told(url.replace("https:", "http:"), tmp_path)
        connector = aiohttp.TCPConnector(ssl=client_context(url, tmp_path) or True)
        async with aiohttp.ClientSession(connector=connector) as client, client.get(url) as answer:
            assert answer.status == 404
    finally:
        await server.close()


async def test_a_server_without_a_certificate_is_told(tmp_path: Path) -> None:
    async with TestServer(web.Application()) as server:
        url = f"https://127.0.0.1:{server.port}"
        assert f"does not speak https; use http://127.0.0.1:{server.port}" in await told(url, tmp_path)


async def test_nobody_at_an_address_is_told_with_what_to_start(tmp_path: Path) -> None:
    assert "start one with: visavis serve" in await told("http://127.0.0.1:9", tmp_path)
    assert "check --server" in str(unreachable("http://h", aiohttp.ClientError()))
    assert "give one such as" in str(unreachable("http://h", aiohttp.InvalidURL("http://h")))
