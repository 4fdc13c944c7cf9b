"""Unix ``compress``, written for tests: the other direction of the product's decoder."""

from __future__ import annotations


def compress(content: bytes, max_bits: int = 16, *, clear_when_full: bool = False) -> bytes:
    """Return the ``.Z`` file of some bytes (block mode, codes of 9 to max_bits bits)."""
    writer = _GroupWriter(max_bits)
    table = {bytes([value]): value for value in range(256)}
    word = b""
    for index in range(len(content)):
        letter = content[index : index + 1]
        if word + letter in table:
            word += letter
            continue
        writer.put(table[word])
        if writer.free < 1 << max_bits:
            table[word + letter] = writer.free
            writer.free += 1
        elif clear_when_full:
            writer.clear()
            table = {bytes([value]): value for value in range(256)}
        word = letter
    if word:
        writer.put(table[word])
    return bytes([0x1F, 0x9D, 0x80 | max_bits]) + writer.finish()


class _GroupWriter:
    """Codes, lowest bit first, in groups of eight; a change of width fills up the group."""

    def __init__(self, max_bits: int) -> None:
        self.max_bits, self.bits, self.free = max_bits, 9, 257
        self.group: list[int] = []
        self.output = bytearray()

    def put(self, code: int) -> None:
        # The table has outgrown the width: the reader widens here too.
        if self.free > 1 << self.bits and self.bits < self.max_bits:
            self._flush(pad=True)
            self.bits += 1
        self.group.append(code)
        if len(self.group) == 8:
            self._flush(pad=False)

    def clear(self) -> None:
        self.put(256)
        self._flush(pad=True)
        self.bits, self.free = 9, 257

    def finish(self) -> bytes:
        self._flush(pad=False)
        return bytes(self.output)

    def _flush(self, *, pad: bool) -> None:
        if not self.group:
            return
        value = sum(code << (self.bits * index) for index, code in enumerate(self.group))
        n_bytes = self.bits if pad else -(-self.bits * len(self.group) // 8)
        self.output += value.to_bytes(n_bytes, "little")
        self.group = []
