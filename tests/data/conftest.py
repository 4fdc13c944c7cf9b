"""Private folders for every test here, a web server on loopback, and a small known data set."""

from __future__ import annotations

import hashlib
import io
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vicinal.data._decoding import decode_table
from vicinal.data._fingerprint import fingerprint
from vicinal.data._registry import DatasetEntry, Measured, PublicSource, StoredFile, registry

REAL_DATA = os.environ.get("VICINAL_DATA")


@pytest.fixture
def real_data(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of real data, or skip."""
    if not REAL_DATA:
        pytest.skip("VICINAL_DATA is not set: the real data are not at hand")
    monkeypatch.setenv("VICINAL_DATA", REAL_DATA)
    return Path(REAL_DATA)


@pytest.fixture(autouse=True)
def private_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Keep tests away from the user's folders and from the network; return the cache."""
    for name in ("VICINAL_DATA", "VICINAL_MIRROR", "VICINAL_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    cache = tmp_path / "cache"
    monkeypatch.setenv("VICINAL_CACHE", str(cache))
    return cache


@dataclass
class Loopback:
    """A web server under test control.

    ``files`` maps a path to bytes; ``break_after`` closes the connection after so many bytes of
    each of the next ``n_breaks`` answers; ``status`` answers everything with that code;
    ``most`` is the length of the longest range it will send at once; ``headers`` are added;
    ``moved`` maps a path to where it sends those who ask for it.
    """

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    break_after: int = 0
    n_breaks: int = 0
    ranges: bool = True
    status: int = 200
    hold: Callable[[], None] | None = None
    etag: str | None = '"one"'
    most: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)

    def url(self, name: str) -> str:
        return f"{self.address}/{name}"

    def ranges_asked(self) -> list[str | None]:
        return [asked for _, asked in self.asked]


def _handler(server: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.close_connection = True
            name, wanted = self.path.lstrip("/"), self.headers.get("Range")
            server.asked.append((name, wanted))
            if name in server.moved:
                self.send_response(302)
                self.send_header("Location", server.moved[name])
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            content = server.files.get(name)
            if server.status != 200 or content is None:
                self.send_error(server.status if server.status != 200 else 404)
                return
            self._answer(content, wanted)

        def _answer(self, content: bytes, wanted: str | None) -> None:
            start, end = 0, len(content)
            unchanged = self.headers.get("If-Range") in (None, server.etag)
            if wanted and server.ranges and unchanged:
                start = int(wanted.removeprefix("bytes=").removesuffix("-"))
                if start >= len(content):
                    self.send_response(416)
                    self.send_header("Content-Range", f"bytes */{len(content)}")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                end = min(end, start + (server.most or end))
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(content)}")
            else:
                self.send_response(200)
            if server.etag:
                self.send_header("ETag", server.etag)
            for name, value in server.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(end - start))
            self.end_headers()
            self._send(content[start:end])

        def _send(self, body: bytes) -> None:
            if server.n_breaks > 0:
                server.n_breaks -= 1
                body = body[: server.break_after]
            self.wfile.write(body)
            self.wfile.flush()
            if server.hold is not None:
                server.hold()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    server = Loopback()
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(server)) as httpd:
        httpd.daemon_threads = True
        server.address = f"http://127.0.0.1:{httpd.server_address[1]}"
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        httpd.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask again at once after a broken download."""
    monkeypatch.setattr("vicinal.data._download.time.sleep", lambda seconds: None)


def toy_arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "X": rng.integers(0, 1000, size=(3000, 5)).astype(np.int16),
        "y": (1 + np.arange(3000) % 3).astype(np.uint8),
        "is_test": np.arange(3000) >= 2400,
    }


@dataclass
class Toy:
    """A set called "toy" in the registry, and the bytes of its stored file."""

    content: bytes
    sha256: str


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    buffer = io.BytesIO()
    np.savez(buffer, **toy_arrays())  # type: ignore[arg-type]
    content = buffer.getvalue()
    sha256 = hashlib.sha256(content).hexdigest()
    add_toy(monkeypatch, stored=StoredFile("toy.npz", sha256, len(content)))
    return Toy(content, sha256)


def add_toy(monkeypatch: pytest.MonkeyPatch, **fields: Any) -> DatasetEntry:
    arrays = toy_arrays()
    y = arrays["y"].astype(np.int64) - 1
    known: dict[str, Any] = {
        "name": "toy",
        "title": "Toy",
        "task": "classification",
        "measured": Measured(
            shape=(3000, 5),
            fingerprint=fingerprint(arrays["X"] / 10.0, y, arrays["is_test"]),
            class_counts=(1000, 1000, 1000),
            n_test=600,
        ),
        "stored": StoredFile("toy.npz", "0" * 64, 1),
        "decode": lambda stored: decode_table(stored, divisor=10.0, first_label=1),
        "source": PublicSource(page="http://127.0.0.1/toy", note="made for tests"),
        "citation": "nobody0000",
        "licence": "none",
        "classes": ("a", "b", "c"),
        "protocol": "official",
    }
    entry = DatasetEntry(**(known | fields))
    monkeypatch.setitem(registry(), "toy", entry)
    return entry
