"""A hub on loopback: the few addresses that a download asks for, and the faults that one can meet."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

COMMIT = "c0ffee" + "0" * 34


@dataclass
class LocalHub:
    """`files` by path on the hub. What a test sets here, the next request meets.

    `break_after` cuts so many answers at half of what was asked; `forged` is sent in place of
    a file's bytes; `no_ranges` answers every range with the whole file; `outside_lfs` names Git's SHA-1.
    """

    files: dict[str, bytes]
    repository: str
    url: str = ""
    status: int = 200
    error_code: str = ""
    page: bytes = b""
    page_at_get: bytes = b""
    break_after: int = 0
    forged: dict[str, bytes] = field(default_factory=dict)
    no_ranges: bool = False
    no_hash: bool = False
    outside_lfs: set[str] = field(default_factory=set)
    ranges: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)

    def hash_of(self, path: str) -> str:
        content = self.files[path]
        if path in self.outside_lfs:
            return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        return hashlib.sha256(content).hexdigest()


@contextmanager
def local_hub(files: dict[str, bytes], repository: str) -> Iterator[LocalHub]:
    hub = LocalHub(files, repository)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def answer(self, *, body: bool) -> None:
            hub.requests.append(f"{self.command} {unquote(self.path)}")
            hub.tokens.append(self.headers.get("Authorization", ""))
            page = hub.page or (hub.page_at_get if body else b"")
            if page:
                self.head(200, {"Content-Type": "text/html", "Content-Length": str(len(page))})
                if body:
                    self.wfile.write(page)
                return
            revision, _, path = unquote(self.path).removeprefix(f"/{hub.repository}/resolve/").partition("/")
            status = hub.status
            if status == 200 and (path not in hub.files or revision not in ("main", COMMIT)):
                status = 404
            if status != 200:
                error = {"X-Error-Code": hub.error_code} if hub.error_code else {}
                self.head(status, {"Content-Length": "0", **error})
                return
            self.send_file(path, body=body)

        def send_file(self, path: str, *, body: bool) -> None:
            content = hub.forged.get(path, hub.files[path]) if body else hub.files[path]
            wanted = self.headers.get("Range", "")
            start = (
                int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and not hub.no_ranges else 0
            )
            if wanted:
                hub.ranges.append(wanted)
            headers = {
                "Content-Type": "application/octet-stream",
                "Content-Length": str(len(content) - start),
                "X-Repo-Commit": COMMIT,
                "X-Linked-Size": str(len(hub.files[path])),
            }
            if not hub.no_hash:
                headers["X-Linked-ETag"] = f'"{hub.hash_of(path)}"'
            if start:
                headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
            self.head(206 if start else 200, headers)
            if not body:
                return
            if hub.break_after:
                hub.break_after -= 1
                self.wfile.write(content[start : start + (len(content) - start) // 2])
                self.close_connection = True
            else:
                self.wfile.write(content[start:])

        def head(self, status: int, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Tests read `requests`."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
