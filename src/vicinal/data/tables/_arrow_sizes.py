"""What the packed buffers of an Arrow file say they unpack to, read before any is unpacked.

A file is a row of messages, each with a description and a body. The description is a flatbuffer: a
table begins with the distance back to a list of where its fields stand. Of a batch of rows the
fields used here are the list of its buffers and whether they are packed; each packed one begins
with its size unpacked.
"""

from __future__ import annotations

import struct
from pathlib import Path

_BATCH, _DICTIONARY = 3, 2  # kinds of messages
_MAGIC = 8  # bytes before the first message of a file


def unpacked_size(path: Path) -> int:
    """Return the bytes that all batches of a Feather file unpack to, by what they say."""
    import pyarrow as pa

    size = 0
    with pa.memory_map(str(path)) as file:
        file.seek(_MAGIC)
        messages = pa.ipc.MessageReader.open_stream(file)
        try:
            while True:
                message = messages.read_next_message()
                if message.body is not None:
                    size += _batch_size(message.metadata.to_pybytes(), memoryview(message.body))
        except (StopIteration, EOFError, pa.ArrowInvalid):  # the end, or what the reader will tell
            return size


def _batch_size(description: bytes, body: memoryview) -> int:
    """Return what the buffers of one message unpack to; 0 where it holds none."""
    try:
        message = _Table(description, struct.unpack_from("<I", description)[0])
        kind, place = message.byte(1), message.table(2)
        if kind == _DICTIONARY and place is not None:
            place = place.table(1)
        if kind not in (_BATCH, _DICTIONARY) or place is None:
            return 0
        packed = place.table(3) is not None
        return sum(_size(body, *buffer, packed) for buffer in place.pairs(2))
    except (struct.error, IndexError):
        return 0  # damaged; the reader says how


def _size(body: memoryview, start: int, length: int, packed: bool) -> int:
    if not packed or not length:
        return length
    size = int(struct.unpack_from("<q", body, start)[0])
    return length - 8 if size == -1 else max(size, 0)


class _Table:
    """A table of a flatbuffer, its fields by number."""

    def __init__(self, data: bytes, start: int) -> None:
        self.data, self.start = data, start
        self.fields = start - struct.unpack_from("<i", data, start)[0]

    def _place(self, number: int) -> int | None:
        entry = 4 + 2 * number
        if entry >= struct.unpack_from("<H", self.data, self.fields)[0]:
            return None
        offset = struct.unpack_from("<H", self.data, self.fields + entry)[0]
        return self.start + offset if offset else None

    def byte(self, number: int) -> int:
        place = self._place(number)
        return 0 if place is None else self.data[place]

    def _far(self, number: int) -> int | None:
        place = self._place(number)
        return None if place is None else place + struct.unpack_from("<I", self.data, place)[0]

    def table(self, number: int) -> _Table | None:
        place = self._far(number)
        return None if place is None else _Table(self.data, place)

    def pairs(self, number: int) -> list[tuple[int, int]]:
        """Return a list of pairs of whole numbers."""
        place = self._far(number)
        if place is None:
            return []
        count = struct.unpack_from("<I", self.data, place)[0]
        return [struct.unpack_from("<qq", self.data, place + 4 + 16 * n) for n in range(count)]
