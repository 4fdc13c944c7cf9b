"""Bytes out of the wrappings archives use: gzip, bzip2, Unix compress, tar.

Members are read into memory and never written, so that a hostile archive cannot name a path.
"""

from __future__ import annotations

import bz2
import gzip
import tarfile
from pathlib import Path

_CLEAR = 256  # in block mode: forget the table and start again at nine bits
_FIRST_BITS = 9


def read_unwrapped(path: Path, member: str | None = None) -> bytes:
    """Return the content of a file, or of one member of a tar file, without its wrapping.

    Parameters
    ----------
    path : Path
        Unwrapped by the ending of its name: ``.gz``, ``.bz2``, ``.Z``; tar files by `member`.
    member : str or None
        How the name of the wanted member of a tar file ends, e.g. ``"kin-8nm/Dataset.data.gz"``.
    """
    if member is None:
        return _unwrap(path.name, path.read_bytes())
    with tarfile.open(path, mode="r:*") as archive:
        for info in archive:
            if info.isfile() and f"/{info.name}".endswith(f"/{member}"):
                handle = archive.extractfile(info)
                assert handle is not None
                return _unwrap(info.name, handle.read())
    raise ValueError(f"{path.name} holds no member {member}.")


def _unwrap(name: str, content: bytes) -> bytes:
    if name.endswith(".gz"):
        return gzip.decompress(content)
    if name.endswith(".bz2"):
        return bz2.decompress(content)
    if name.endswith(".Z"):
        return decompress_lzw(content)
    return content


def decompress_lzw(content: bytes) -> bytes:
    """Undo Unix ``compress`` (files named ``.Z``).

    Codes are 9 to ``max_bits`` wide, lowest bit first, in groups of eight; whenever the width
    changes or the table is cleared, the rest of the group is padding.

    Parameters
    ----------
    content : bytes
        A whole ``.Z`` file.
    """
    if len(content) < 3 or content[:2] != b"\x1f\x9d":
        raise ValueError("not a file made by Unix compress (its first bytes are wrong).")
    max_bits, block_mode = content[2] & 0x1F, bool(content[2] & 0x80)
    if not _FIRST_BITS < max_bits <= 16:
        raise ValueError(f"cannot read a .Z file with codes of up to {max_bits} bits (10 to 16).")
    first_free = 257 if block_mode else 256
    literals = [bytes([value]) for value in range(256)] + [b""] * (first_free - 256)
    table, output, previous, position, bits = list(literals), [], b"", 3, _FIRST_BITS
    while position < len(content):
        group = _codes_of_group(content, position, bits)
        position += bits
        for code in group:
            if code == _CLEAR and block_mode:
                table, previous, bits = list(literals), b"", _FIRST_BITS
                break
            entry = _entry_of(code, table, previous)
            output.append(entry)
            if previous and len(table) < 1 << max_bits:
                table.append(previous + entry[:1])
            previous = entry
            # A full width means the next code is wider; the encoder pads out this group.
            if len(table) == 1 << bits and bits < max_bits:
                bits += 1
                break
    return b"".join(output)


def _codes_of_group(content: bytes, position: int, bits: int) -> list[int]:
    group = content[position : position + bits]
    value = int.from_bytes(group, "little")
    mask = (1 << bits) - 1
    return [value >> (bits * index) & mask for index in range(8 * len(group) // bits)]


def _entry_of(code: int, table: list[bytes], previous: bytes) -> bytes:
    if code < len(table):
        return table[code]
    if code == len(table) and previous:
        return previous + previous[:1]
    raise ValueError("damaged .Z file: it refers to an entry that does not exist yet.")
