"""Where the stored file of a data set is: the user's folder, the cache, or a public source."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from vicinal.data._conversion import convert, mismatch, sha256_of, sidecar_of
from vicinal.data._download import DataCorruptError, DataUnavailableError, fetch
from vicinal.data._registry import DatasetEntry, RawFile

OPENML = "https://api.openml.org/api/v1/json/data"


def data_folder() -> Path | None:
    """Return the folder named by ``VICINAL_DATA``, if it is set."""
    named = os.environ.get("VICINAL_DATA")
    return Path(named).expanduser() if named else None


def cache_folder() -> Path:
    """Return the folder downloads go to: ``VICINAL_CACHE``, or the user's cache."""
    named = os.environ.get("VICINAL_CACHE")
    if named:
        return Path(named).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("vicinal", appauthor=False)


@dataclass(frozen=True)
class Whereabouts:
    """Where a set is: "built in", "data folder", "cache", "raw files" or "absent".

    ``n_bytes`` is what the files take on disk, 0 when there are none. ``plausible`` is False for
    a stored file of the wrong size.
    """

    place: str
    path: Path | None = None
    n_bytes: int = 0
    plausible: bool = True


def find(entry: DatasetEntry) -> Whereabouts:
    """Say where a set is without opening or fetching anything."""
    if entry.stored is None:
        return Whereabouts("built in")
    for place, folder in (("data folder", data_folder()), ("cache", cache_folder())):
        path = None if folder is None else folder / entry.stored.name
        if path is not None and path.is_file():
            n_bytes = path.stat().st_size
            plausible = n_bytes == entry.stored.n_bytes or sidecar_of(path).is_file()
            return Whereabouts(place, path, n_bytes, plausible)
    raw = [find_raw(file) for file in entry.source.files]
    present = [path for path in raw if path is not None]
    if present and len(present) == len(raw):
        return Whereabouts("raw files", present[0], sum(path.stat().st_size for path in present))
    return Whereabouts("absent")


def find_raw(file: RawFile) -> Path | None:
    """Return where a source's own file has been put by hand or by an earlier download."""
    for folder in (data_folder(), cache_folder(), cache_folder() / "raw"):
        if folder is not None and (folder / file.name).is_file():
            return folder / file.name
    return None


def obtain(entry: DatasetEntry) -> Path:
    """Return a checked stored file, fetching or converting it when there is none.

    Order: ``VICINAL_DATA``, the cache, the source's own files where they have been put by hand,
    a mirror (``VICINAL_MIRROR``, a web folder of stored files), the public source.

    Raises
    ------
    DataCorruptError
        A file is there but differs from the registered one.
    DataUnavailableError
        There is none and it cannot be fetched; the message says where to put it.
    """
    assert entry.stored is not None
    place = find(entry)
    if place.place in ("data folder", "cache"):
        assert place.path is not None
        problem = mismatch(place.path, entry.stored)
        if problem is None:
            return place.path
        if place.place == "data folder":
            raise DataCorruptError(f"{problem} Replace it, or remove it to have it fetched.")
    return _fetch_or_convert(entry, raw_is_here=place.place == "raw files")


def _fetch_or_convert(entry: DatasetEntry, *, raw_is_here: bool) -> Path:
    """Try each way in turn; when none works, say why of each."""
    assert entry.stored is not None
    if raw_is_here:
        return _convert(entry, {file.name: _raw_path(file) for file in entry.source.files})
    reasons = []
    mirror = os.environ.get("VICINAL_MIRROR")
    if mirror:
        try:
            url = f"{mirror.rstrip('/')}/{entry.stored.name}"
            return fetch(url, cache_folder() / entry.stored.name, f"sha256:{entry.stored.sha256}")
        except (DataUnavailableError, DataCorruptError) as error:
            reasons.append(str(error))
    if not entry.source.files:
        reasons.append(f"it has no public address ({entry.source.note or entry.source.page})")
        raise DataUnavailableError(_advise(entry, reasons))
    try:
        paths = {file.name: _raw_path(file) for file in entry.source.files}
    except (DataUnavailableError, DataCorruptError) as error:
        raise DataUnavailableError(_advise(entry, [*reasons, str(error)])) from error
    return _convert(entry, paths)


def _convert(entry: DatasetEntry, files: dict[str, Path]) -> Path:
    """Convert, and drop what was fetched only for that: on failure too, so as to fetch anew."""
    sys.stderr.write(f"preparing {entry.name} from {', '.join(files)} (this once)\n")
    try:
        path = convert(entry, files, cache_folder())
    except DataCorruptError:
        _drop_fetched(files)
        raise
    _drop_fetched(files)
    return path


def _drop_fetched(files: dict[str, Path]) -> None:
    for path in files.values():
        if path.parent == cache_folder() / "raw":
            path.unlink(missing_ok=True)


def _raw_path(file: RawFile) -> Path:
    """Return a source's own file, checked, from a folder or from its address."""
    here, target = find_raw(file), cache_folder() / "raw" / file.name
    if here is not None and (file.sha256 is None or sha256_of(here) == file.sha256):
        return here
    if here is not None and here != target:
        raise DataCorruptError(f"{here} is not the file its source serves (sha256 differs)")
    if file.url is None:
        raise DataUnavailableError(f"{file.name} has no lasting public address")
    if file.url.startswith("openml:"):
        return fetch(*_ask_openml(file.url.removeprefix("openml:"), target))
    return fetch(file.url, target, f"sha256:{file.sha256}" if file.sha256 else None)


def _ask_openml(number: str, target: Path) -> tuple[str, Path, str | None]:
    """Ask OpenML for a data set's address and checksum."""
    description = fetch(f"{OPENML}/{number}", target.with_name(f"openml-{number}.json"))
    try:
        described = json.loads(description.read_text(encoding="utf-8"))["data_set_description"]
        md5 = described.get("md5_checksum")
        return str(described["url"]), target, f"md5:{md5}" if md5 else None
    except (ValueError, KeyError, TypeError) as error:
        raise DataCorruptError(
            f"OpenML's description of data set {number} is unreadable"
        ) from error
    finally:
        description.unlink(missing_ok=True)


def _advise(entry: DatasetEntry, reasons: list[str]) -> str:
    assert entry.stored is not None
    named = data_folder()
    first = "VICINAL_DATA, which is not set" if named is None else f"{named} (VICINAL_DATA)"
    if named is not None and not named.is_dir():
        first = f"{named} (VICINAL_DATA; there is no such folder)"
    own = _whence(entry)
    alternative = f", or {own}," if own else ""
    return (
        f"{entry.name} is not on this computer and was not fetched: {'; '.join(reasons)}. "
        f"Looked for {entry.stored.name} in {first}, and in {cache_folder()}. "
        f"Put {entry.stored.name}{alternative} into one of these folders."
    )


def _whence(entry: DatasetEntry) -> str:
    """Name the source's own files, and where a person finds them."""
    files = entry.source.files
    if not any(file.url for file in files):
        names = ", ".join(file.name for file in files)
        return f"{names} (see {entry.source.page})" if names else ""
    return " and ".join(
        f"{file.name} from {(file.url or '').replace('openml:', 'https://www.openml.org/d/')}"
        for file in files
    )
