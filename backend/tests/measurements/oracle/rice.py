"""Columns of whole numbers in few bits: each as low bits of one width and a short unary rest (Rice's code).

A *pack* is a sequence of columns of 32-bit numbers. The reader knows the number of columns, their lengths, and which
are *signed* (small numbers of either sign). Bits are counted from the lowest of each byte.

    1 byte a column       bits 0-5: k, the width of the low bits, 0 … 32; bit 6: a rest follows; bit 7: a base follows
    4 bytes each          the bases of the columns that have one, little-endian, signed
    k bits a number       low bits, column after column
    unary                 rests of the columns that have them: as many 0 as it says (24 at most), then a 1
    32 bits each          rests of 24 and more, in their order
    to the next byte      0

A number is its base (0 without) plus its rest times 2^k plus its low bits; in signed columns that is zigzag coded first
(0, -1, 1, -2 … as 0, 1, 2, 3 …). Sums wrap around at 32 bits, so any number comes back as it was.

The rules of writing are those of the native module, so that both write equal bytes. The base of a signed column is its
mean, that of others their minimum, if it saves bits. The width is the one with the fewest bits out of five around
that of the median, or the width of the largest number without rests.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]

RESTS_MAX = 24
K, REST, BASE = 63, 64, 128
MASK = 0xFFFFFFFF
_NOTHING = np.empty(0, np.uint8)
_MIX = 0x9E3779B97F4A7C15


class Exhausted(ValueError):
    """A pack says more than there are bits."""


def pack(columns: Sequence[Ints], signed: Sequence[bool]) -> bytes:
    """Return the bytes of columns of numbers that fit 32 bits after wrapping."""
    params, bases, lows, rests, large = bytearray(), [], [], [], []
    for column, either in zip(columns, signed, strict=True):
        base, values = _based(wrapped(column), either)
        k, has_rest = _width(values)
        params.append(k | REST * has_rest | BASE * (base != 0))
        if base:
            bases.append(base)
        lows.append(_bits_of(values, k))
        if has_rest:
            rest = values >> k
            ones = np.cumsum(np.minimum(rest, RESTS_MAX) + 1) - 1
            unary = np.zeros(int(ones[-1]) + 1, np.uint8)
            unary[ones] = 1
            rests.append(unary)
            large.append(_bits_of(rest[rest >= RESTS_MAX], 32))
    head = bytes(params) + np.array(bases, "<i4").tobytes()
    return head + np.packbits(np.concatenate([_NOTHING, *lows, *rests, *large]), bitorder="little").tobytes()


class Unpacker:
    """Reads packs, one after the other."""

    def __init__(self, body: bytes | Bits) -> None:
        self._bytes = np.frombuffer(body, np.uint8)
        self._bits = np.unpackbits(self._bytes, bitorder="little")
        self.at = 0

    @property
    def left(self) -> int:
        """Bytes not read yet."""
        return self._bytes.size - self.at

    def number(self, size: int) -> int:
        """Read an unsigned number of `size` bytes."""
        return int.from_bytes(self._take(size).tobytes(), "little")

    def columns(self, sizes: Sequence[int], signed: Sequence[bool]) -> list[Ints]:
        """Read the columns of a pack. Exhausted."""
        params = self._take(len(sizes)).tolist()
        based = [param >= BASE for param in params]
        bases = iter(self._take(4 * sum(based)).copy().view("<i4").tolist())
        start = 8 * self.at
        collected: list[Ints] = []
        for param, size in zip(params, sizes, strict=True):
            k = param & K
            if start + size * k > self._bits.size:
                raise Exhausted
            collected.append(_numbers_of(self._bits[start : start + size * k], k, size))
            start += size * k
        counted = sum(size for param, size in zip(params, sizes, strict=True) if param & REST)
        ones = np.flatnonzero(self._bits[start:])[:counted]
        if ones.size < counted:
            raise Exhausted
        rests = np.diff(ones, prepend=-1) - 1
        start += int(ones[-1]) + 1 if counted else 0
        many = rests >= RESTS_MAX
        large = int(np.count_nonzero(many))
        if start + 32 * large > self._bits.size:
            raise Exhausted
        rests[many] = _numbers_of(self._bits[start : start + 32 * large], 32, large)
        self.at = -(-(start + 32 * large) // 8)
        first = 0
        for i, (param, size, either) in enumerate(zip(params, sizes, signed, strict=True)):
            if param & REST:
                collected[i] += rests[first : first + size] << (param & K)
                first += size
            if either:
                collected[i] = collected[i] >> 1 ^ -(collected[i] & 1)
            collected[i] = wrapped(collected[i] + (next(bases) if based[i] else 0))
        return collected

    def _take(self, size: int) -> Bits:
        if size > self.left:
            raise Exhausted
        self.at += size
        return self._bytes[self.at - size : self.at]


def wrapped(numbers: npt.NDArray[np.integer]) -> Ints:
    """Their low 32 bits as signed numbers."""
    result: Ints = (numbers.astype(np.int64) & MASK ^ 1 << 31) - (1 << 31)
    return result


def checksum(head: int, body: bytes) -> int:
    """32 bits that change with any bit of the body, with its length and with `head` (32 bits)."""
    padded = np.frombuffer(body + bytes(-len(body) % 8), "<u8")
    weights = np.arange(1, 2 * padded.size, 2, dtype=np.uint64)
    total = int((padded * weights).sum(dtype=np.uint64)) + (head << 32 | len(body))
    return (total * _MIX >> 32) & MASK


def _based(column: Ints, signed: bool) -> tuple[int, Ints]:
    """Return the base of a column and its numbers minus the base, all 0 … 2^32-1."""
    if not column.size:
        return 0, column
    if signed:
        base = int(column.sum()) // column.size
        base = 0 if -2 < base < 2 else base
        left = wrapped(column - base)
        return base, (left << 1 ^ left >> 63) & MASK
    base = int(column.min())
    if base > 0 and base.bit_length() + 1 < _median_width(_widths(column)):
        base = 0
    return base, column - base


def _width(values: Ints) -> tuple[int, bool]:
    """Return the number of low bits of a column, and whether it has rests."""
    if not values.size:
        return 0, False
    widths = _widths(values)
    chosen = (int(widths.max()), False)
    best = values.size * chosen[0]
    middle = _median_width(widths)
    for k in range(max(middle - 2, 0), min(middle + 3, chosen[0])):
        rest = values >> k
        bits = values.size * (k + 1) + int(np.minimum(rest, RESTS_MAX).sum()) + 32 * int((rest >= RESTS_MAX).sum())
        if bits < best:
            best, chosen = bits, (k, True)
    return chosen


def _widths(values: Ints) -> Ints:
    """Bits of each number from 0 to 2^32-1."""
    return np.frexp(values.astype(np.float64))[1].astype(np.int64)


def _median_width(widths: Ints) -> int:
    """Return the width that at least half of the numbers do not exceed."""
    return int(np.sort(widths)[(widths.size - 1) // 2])


def _bits_of(values: Ints, width: int) -> Bits:
    return (values[:, None] >> np.arange(width) & 1).astype(np.uint8).reshape(-1)


def _numbers_of(bits: Bits, width: int, size: int) -> Ints:
    powers = np.left_shift(np.int64(1), np.arange(width))
    result: Ints = bits.reshape(size, width).astype(np.int64) @ powers
    return result
