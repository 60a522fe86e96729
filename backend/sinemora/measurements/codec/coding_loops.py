"""Compiled loops of `coding.py`: the same packs, bit for bit.

Bytes are read and written as little-endian words of 64 bits; positions count bits. Import this lazily, through `fast`.
"""

from typing import Any

import numpy as np

from sinemora.compiled import compiled
from sinemora.measurements.codec.rice import BASE, MASK, REST, RESTS_MAX, K

Array = Any

_WIDTHS = np.array([number.bit_length() for number in range(256)], np.int64)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)


@compiled
def put(words: Array, at: Any, value: Any, width: Any) -> None:
    """Write a number of at most 32 bits to bits that are 0."""
    word, shift = at >> 6, at & 63
    bits = np.uint64(value)
    words[word] |= bits << np.uint64(shift)
    if shift + width > 64:
        words[word + 1] |= bits >> np.uint64(64 - shift)


@compiled
def get(words: Array, at: Any, width: Any) -> Any:
    """Read a number of at most 32 bits."""
    word, shift = at >> 6, at & 63
    bits = words[word] >> np.uint64(shift)
    if shift + width > 64:
        bits |= words[word + 1] << np.uint64(64 - shift)
    return np.int64(bits & ((_ONE << np.uint64(width)) - _ONE))


@compiled
def checksum(words: Array, first: Any, size: Any, head: Any) -> Any:
    """`coding.checksum` of the `size` bytes from the word `first` on; what follows them in their last word is 0."""
    total: Any = np.uint64(head) << np.uint64(32) | np.uint64(size)
    weight: Any = _ONE
    for word in range(first, first + (size + 7) // 8):
        total += words[word] * weight
        weight += np.uint64(2)
    return np.int64((total * _MIX) >> np.uint64(32))


@compiled
def pack(flat: Array, bounds: Array, signed: Array, words: Array, at: Any) -> Any:
    """Write the columns `bounds` of `flat` from the bit `at` on, a whole byte; the bit after them. Spoils `flat`."""
    columns = signed.size
    ks = np.zeros(columns, np.int64)
    has_rest = np.zeros(columns, np.bool_)
    based: Any = at + 8 * columns
    for c in range(columns):
        low, high = bounds[c], bounds[c + 1]
        base: Any = np.int64(0)
        if high > low:
            part = flat[low:high]
            base = _without_base(part, signed[c])
            ks[c], has_rest[c] = _width(part)
        param = ks[c] | (REST if has_rest[c] else 0) | (BASE if base != 0 else 0)
        put(words, at + 8 * c, param, 8)
        if base != 0:
            put(words, based, base & MASK, 32)
            based += 32
    to: Any = based
    for c in range(columns):
        k = ks[c]
        if k:
            part = flat[bounds[c] : bounds[c + 1]]
            mask, word, filled = (np.int64(1) << k) - 1, to >> 6, to & 63
            held: Any = words[word]
            for i in range(part.size):
                bits = np.uint64(part[i] & mask)
                held |= bits << np.uint64(filled)
                filled += k
                if filled >= 64:
                    words[word] = held
                    word += 1
                    filled -= 64
                    held = bits >> np.uint64(k - filled) if filled else np.uint64(0)
            words[word] = held
            to += k * part.size
    large = False
    for c in range(columns):
        if has_rest[c]:
            k, part = ks[c], flat[bounds[c] : bounds[c + 1]]
            for i in range(part.size):
                rest = part[i] >> k
                if rest >= RESTS_MAX:
                    large = True
                    rest = RESTS_MAX
                to += rest
                words[to >> 6] |= _ONE << np.uint64(to & 63)
                to += 1
    if large:
        for c in range(columns):
            if has_rest[c]:
                for i in range(bounds[c], bounds[c + 1]):
                    rest = flat[i] >> ks[c]
                    if rest >= RESTS_MAX:
                        put(words, to, rest, 32)
                        to += 32
    return (to + 7) // 8 * 8


@compiled
def unpack(words: Array, at: Any, end: Any, bounds: Array, signed: Array, flat: Array) -> Any:
    """Read the columns `bounds` of `flat` from the bit `at` on; the bit after them, or -1 when they go beyond `end`."""
    columns = signed.size
    low: Any = at + 8 * columns
    if low > end:
        return np.int64(-1)
    needed: Any = np.int64(0)
    bases: Any = low
    for c in range(columns):
        param = get(words, at + 8 * c, 8)
        low += 32 if param & BASE else 0
        needed += (param & K) * (bounds[c + 1] - bounds[c])
    to: Any = low + needed
    if to > end:
        return np.int64(-1)
    large: Any = np.int64(0)
    for c in range(columns):
        param = get(words, at + 8 * c, 8)
        k = param & K
        rests = param & REST
        for i in range(bounds[c], bounds[c + 1]):
            number: Any = np.int64(0)
            if k:
                number = get(words, low, k)
                low += k
            if rests:
                rest: Any = np.int64(0)
                word = words[to >> 6] >> np.uint64(to & 63)
                while word & _ONE == 0:
                    if word == 0:
                        skipped = 64 - (to & 63)
                        rest += skipped
                        to += skipped
                        if to >= end:
                            return np.int64(-1)
                        word = words[to >> 6]
                    else:
                        rest += 1
                        to += 1
                        word >>= _ONE
                to += 1
                if to > end:
                    return np.int64(-1)
                large += rest >= RESTS_MAX
                number += rest << k
            flat[i] = number
    if large:
        if to + 32 * large > end:
            return np.int64(-1)
        for c in range(columns):
            param = get(words, at + 8 * c, 8)
            if param & REST:
                k = param & K
                for i in range(bounds[c], bounds[c + 1]):
                    if flat[i] >> k >= RESTS_MAX:
                        flat[i] = (flat[i] & ((np.int64(1) << k) - 1)) + (get(words, to, 32) << k)
                        to += 32
    for c in range(columns):
        base: Any = np.int64(0)
        if get(words, at + 8 * c, 8) & BASE:
            base = get(words, bases, 32)
            bases += 32
        if signed[c]:
            for i in range(bounds[c], bounds[c + 1]):
                flat[i] = ((((flat[i] >> 1 ^ -(flat[i] & 1)) + base) & MASK) ^ (1 << 31)) - (1 << 31)
        else:
            for i in range(bounds[c], bounds[c + 1]):
                flat[i] = (((flat[i] + base) & MASK) ^ (1 << 31)) - (1 << 31)
    return (to + 7) // 8 * 8


@compiled
def unpack_at(words: Array, at: Any, end: Any, n: Any, signed: Array, place: Any, numbers: Array) -> Any:
    """Read the number `place` of each column of a pack from the bit `at` on, of `n` numbers each, without the others.

    Whether it could: not where one of these has a rest beyond the unary ones, nor where columns go beyond `end`.
    """
    columns = signed.size
    low: Any = at + 8 * columns
    if low > end:
        return False
    needed: Any = np.int64(0)
    bases: Any = low
    for c in range(columns):
        param = get(words, at + 8 * c, 8)
        low += 32 if param & BASE else 0
        needed += (param & K) * n
    to: Any = low + needed
    if to > end:
        return False
    for c in range(columns):
        param = get(words, at + 8 * c, 8)
        k = param & K
        number: Any = np.int64(0)
        if k:
            number = get(words, low + k * place, k)
            low += k * n
        if param & REST:
            first = _after_ones(words, to, place, end)
            last = _after_ones(words, first, np.int64(1), end)
            to = _after_ones(words, last, n - place - 1, end)
            rest = last - first - 1
            if to > end or rest >= RESTS_MAX:
                return False
            number += rest << k
        base: Any = np.int64(0)
        if param & BASE:
            base = get(words, bases, 32)
            bases += 32
        if signed[c]:
            number = number >> 1 ^ -(number & 1)
        numbers[c] = (((number + base) & MASK) ^ (1 << 31)) - (1 << 31)
    return True


@compiled
def _after_ones(words: Array, at: Any, count: Any, end: Any) -> Any:
    """The bit after so many ones from `at` on; beyond `end` where there are fewer."""
    while count > 0:
        if at >= end:
            return end + 1
        word = words[at >> 6] >> np.uint64(at & 63)
        ones = _ones(word)
        if ones < count:
            count -= ones
            at += 64 - (at & 63)
            continue
        while count > 1:  # all but the last of them
            word &= word - _ONE
            count -= 1
        return at + _ones((word & (~word + _ONE)) - _ONE) + 1
    return at


@compiled
def _ones(word: Any) -> Any:
    """How many bits of a word are 1."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def _without_base(part: Array, signed: Any) -> Any:
    """Take the base off a column, which is returned; what is left is 0 … 2^32-1."""
    base: Any = np.int64(0)
    total: Any = np.int64(0)
    least: Any = np.int64(1 << 31)
    for i in range(part.size):
        number = ((part[i] & MASK) ^ (1 << 31)) - (1 << 31)
        part[i] = number
        total += number
        least = min(least, number)
    if signed:
        base = total // part.size
        if -2 < base < 2:
            base = np.int64(0)
        for i in range(part.size):
            left = (((part[i] - base) & MASK) ^ (1 << 31)) - (1 << 31)
            part[i] = (left << 1 ^ left >> 63) & MASK
        return base
    base = least
    if base > 0 and _bits(base) + 1 < _median_width(part)[0]:
        base = np.int64(0)
    if base != 0:
        for i in range(part.size):
            part[i] -= base
    return base


@compiled
def _width(part: Array) -> Any:
    """`coding._width`."""
    n = part.size
    middle, top = _median_width(part)
    chosen, has_rest = top, False
    best = n * top
    for k in range(max(middle - 2, 0), min(middle + 3, top)):
        bits: Any = n * (k + 1)
        for i in range(n):
            rest = part[i] >> k
            bits += rest if rest < RESTS_MAX else RESTS_MAX + 32
        if bits < best:
            best, chosen, has_rest = bits, k, True
    return chosen, has_rest


@compiled
def _median_width(part: Array) -> Any:
    """The width that at least half of the numbers do not exceed, and the largest."""
    counts = np.zeros(33, np.int64)
    highest: Any = np.int64(0)
    for i in range(part.size):
        highest = max(highest, part[i])
    top = _bits(highest)
    if top == 0:
        return np.int64(0), np.int64(0)
    for i in range(part.size):
        counts[_bits(part[i])] += 1
    need = (part.size + 1) // 2
    middle: Any = np.int64(0)
    passed: Any = counts[0]
    while passed < need:
        middle += 1
        passed += counts[middle]
    return middle, top


@compiled
def _bits(number: Any) -> Any:
    """Width of a number from 0 to 2^32-1."""
    if number >= 1 << 16:
        if number >= 1 << 24:
            return 24 + _WIDTHS[number >> 24]
        return 16 + _WIDTHS[number >> 16]
    if number >= 1 << 8:
        return 8 + _WIDTHS[number >> 8]
    return _WIDTHS[number]
