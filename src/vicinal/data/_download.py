"""Fetching one file over HTTP: checked, with progress, and resumed where it broke off."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

ATTEMPTS = 4
TIMEOUT = (10.0, 60.0)  # seconds to connect, and between two pieces
PIECE = 1 << 16
_TRANSIENT = {408, 425, 429, 500, 502, 503, 504}


class DataUnavailableError(OSError):
    """A data set is not on this computer and could not be fetched."""


class DataCorruptError(OSError):
    """A file is there, but it is not what the registry describes."""


def fetch(url: str, target: Path, known_hash: str | None = None) -> Path:
    """Download a file to `target`, unless a good copy is there already.

    What has arrived is kept beside the target as ``<name>.part``; an interrupted download goes
    on from there, in this call (up to four attempts) or in the next.

    Parameters
    ----------
    url : str
    target : Path
    known_hash : str or None
        ``"sha256:..."`` or ``"md5:..."``; a file that does not match is not kept.

    Raises
    ------
    DataUnavailableError
        No connection, refused, nowhere to write, or an address that anyone on the way could
        answer for: plain http is asked only for files whose checksum is known, and followed
        elsewhere only to https.
    DataCorruptError
        The checksum differs.
    """
    if os.environ.get("VICINAL_OFFLINE"):
        raise DataUnavailableError(f"VICINAL_OFFLINE is set, so {url} was not asked for")
    if known_hash is None and not _is_guarded(url):
        raise DataUnavailableError(
            f"{url} is served over plain http and no checksum of it is known, so a forgery could "
            "not be told; fetch it by hand if you trust the way to it"
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _one_at_a_time(target):
            if not _is_good(target, known_hash):
                part = target.with_name(f"{target.name}.part")
                ResumingDownload(part).gather(url)
                _check(part, known_hash, url)
                os.replace(part, target)
    except (DataUnavailableError, DataCorruptError):
        raise
    except OSError as error:
        raise DataUnavailableError(
            f"cannot write {target}: {error.strerror or error}; set VICINAL_CACHE to a folder "
            "with room that you may write to"
        ) from error
    return target


def _is_good(path: Path, known_hash: str | None) -> bool:
    return path.is_file() and known_hash in (None, _hash_like(path, known_hash))


def _check(part: Path, known_hash: str | None, url: str) -> None:
    """Remove a file that is not what is known of it."""
    if not _is_good(part, known_hash):
        held = _hash_like(part, known_hash)
        part.unlink()
        raise DataCorruptError(
            f"{url} does not serve the registered file: its hash is {held}, not {known_hash}"
        )


def _hash_like(path: Path, known_hash: str | None) -> str:
    """Return a file's hash, written as the known one is."""
    kind = "sha256" if known_hash is None else known_hash.partition(":")[0]
    with path.open("rb") as file:
        return f"{kind}:{hashlib.file_digest(file, kind).hexdigest()}"


class ResumingDownload:
    """A download that keeps a partial file and asks only for the rest.

    Parameters
    ----------
    part : Path
        Where the pieces are gathered.
    """

    def __init__(self, part: Path) -> None:
        self.part = part
        self.tag = part.with_name(f"{part.name}.tag")  # the server's mark of this very version

    def gather(self, url: str) -> None:
        """Fetch all of a file, in several attempts where the way is bad."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._gather(url)
            except _BrokenOffError as error:
                if attempt == ATTEMPTS:
                    raise DataUnavailableError(self._explain(url, error)) from error
                time.sleep(0.2 * 2**attempt)
            else:
                break
        self.tag.unlink(missing_ok=True)

    def _gather(self, url: str) -> None:
        """Append what is missing to the partial file."""
        import requests

        try:
            with requests.get(
                url,
                headers=self._headers(),
                hooks={"response": _refuse_unguarded_turns},
                stream=True,
                timeout=TIMEOUT,
            ) as reply:
                total = self._expected_total(reply)
                if total != self._held():
                    self._receive(reply, url, total)
        except requests.ConnectionError as error:
            # Nothing answers: asking again at once will not help, unless pieces had come.
            if self._held():
                raise _BrokenOffError(str(error)) from error
            raise DataUnavailableError(f"no connection to {url}") from error
        except requests.RequestException as error:
            raise _BrokenOffError(str(error)) from error

    def _headers(self) -> dict[str, str]:
        # Some servers label .gz and .Z files as compressed in transit; we want them as they are.
        headers = {"Accept-Encoding": "identity", "User-Agent": "vicinal"}
        if self._held():
            headers["Range"] = f"bytes={self._held()}-"
            if self.tag.is_file():
                headers["If-Range"] = self.tag.read_text(encoding="latin-1")
        return headers

    def _expected_total(self, reply: Any) -> int | None:
        """Return the size of the whole file; make ready to append or to start anew."""
        span = reply.headers.get("Content-Range", "")
        total = span.rpartition("/")[2]
        if reply.status_code == 206 and span.startswith(f"bytes {self._held()}-"):
            return int(total) if total.isdigit() else None
        if reply.status_code == 416 and total == str(self._held()):
            return self._held()  # all of it had come already
        self.part.unlink(missing_ok=True)
        if reply.status_code in (206, 416):
            raise _BrokenOffError("the server cannot continue where the download stopped")
        if reply.status_code in _TRANSIENT:
            raise _BrokenOffError(f"the server answered {reply.status_code} {reply.reason}")
        if reply.status_code != 200:
            raise DataUnavailableError(f"{url_of(reply)}: {reply.status_code} {reply.reason}")
        self._remember(reply)
        length = reply.headers.get("Content-Length", "")
        return int(length) if length.isdigit() else None

    def _remember(self, reply: Any) -> None:
        mark = reply.headers.get("ETag") or reply.headers.get("Last-Modified")
        if mark and not mark.startswith("W/"):
            self.tag.write_text(mark, encoding="latin-1")
        else:
            self.tag.unlink(missing_ok=True)

    def _receive(self, reply: Any, url: str, total: int | None) -> None:
        from urllib3.exceptions import HTTPError

        with self.part.open("ab") as file, _progress(url, self._held(), total) as advance:
            try:
                for piece in reply.raw.stream(PIECE, decode_content=False):
                    file.write(piece)
                    advance(len(piece))
            except HTTPError as error:
                raise _BrokenOffError("the connection broke off") from error
        if total is not None and self._held() != total:
            raise _BrokenOffError(f"{self._held()} of {total} bytes came")

    def _held(self) -> int:
        return self.part.stat().st_size if self.part.is_file() else 0

    def _explain(self, url: str, error: Exception) -> str:
        n_bytes = self._held()
        hint = f"; the {n_bytes} bytes that came are kept, run again to go on" if n_bytes else ""
        return f"{url}: {error} ({ATTEMPTS} attempts){hint}"


def _is_guarded(url: str) -> bool:
    """Return whether nobody on the way can change what an address serves."""
    return urlsplit(url).scheme == "https" or _is_here(url)


def _is_here(url: str) -> bool:
    return urlsplit(url).hostname in ("127.0.0.1", "::1", "localhost")


def _refuse_unguarded_turns(reply: Any, *args: Any, **settings: Any) -> None:
    if not reply.is_redirect:
        return
    place = urljoin(reply.url, reply.headers["Location"])
    # Nor does a server elsewhere decide what this computer asks of itself.
    if not _is_guarded(place) or (_is_here(place) and not _is_here(reply.url)):
        raise DataUnavailableError(
            f"{reply.url} leads to {reply.headers['Location']}, which is not https"
        )


class _BrokenOffError(Exception):
    """The connection ended before the file did; worth another attempt."""


def url_of(reply: Any) -> str:
    return str(reply.url)


@contextmanager
def _progress(url: str, held: int, total: int | None) -> Iterator[Any]:
    """Show a bar on a terminal, and one plain line elsewhere; yield what counts bytes."""
    name = url.rpartition("/")[2]
    if not sys.stderr.isatty():
        size = f" ({total / 1e6:.1f} MB)" if total else ""
        doing = "continuing with" if held else "downloading"
        sys.stderr.write(f"{doing} {name}{size} from {url}\n")
        yield lambda n_bytes: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("downloading {task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=total, completed=held)
        yield lambda n_bytes: bar.advance(task, n_bytes)


@contextmanager
def _one_at_a_time(target: Path) -> Iterator[None]:
    """Let one process at a time write a target; a second one waits and finds it done."""
    try:
        import fcntl
    except ImportError:  # not on Windows: there a clash shows as a wrong checksum
        yield
        return
    with target.with_name(f".{target.name}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
