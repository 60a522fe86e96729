"""Whole distributions of round trips between some VMs and all others, window by window, as stored. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sinemora.measurements.codec import llq16
from sinemora.measurements.codec.llq16 import Ints, Words


class Counted(NamedTuple):
    """Round trips (ns), how often each was measured, and whose it is: shapes (values,)."""

    owner: Ints
    round_trip_ns: Ints
    times: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Sketches of the round trips from `sources` to every VM (positions among the members of a mesh).

    Those of window w, source s (by its place) and VM m are `lengths[w, s, m]` of `words`, from `starts[w, s, m]` on.
    """

    sources: npt.NDArray[np.integer]
    starts: Ints
    lengths: Ints
    words: Words

    def of(self, windows: npt.NDArray[np.bool_]) -> "Values":
        """Return the same for some of the windows."""
        return replace(self, starts=self.starts[windows], lengths=self.lengths[windows])

    def knows(self, source: int) -> bool:
        """Return whether there are round trips from this VM."""
        return bool((self.sources == source).any())

    def windows_of(self, source: int, target: int) -> Counted:
        """Return the round trips between two VMs, `owner` being the window."""
        return self._counted(self._place(source), slice(target, target + 1), by_window=True)

    def targets_of(self, source: int) -> Counted:
        """Return the round trips from a VM in all windows, `owner` being the VM at the other end."""
        return self._counted(self._place(source), slice(None), by_window=False)

    def _place(self, source: int) -> int:
        return int(np.flatnonzero(self.sources == source)[0])

    def _counted(self, place: int, targets: slice, *, by_window: bool) -> Counted:
        lengths, starts = self.lengths[:, place, targets], self.starts[:, place, targets]
        rows, columns = np.indices(lengths.shape)
        owner = np.repeat((rows if by_window else columns).reshape(-1), lengths.reshape(-1))
        words = self.words[_ranges(starts.reshape(-1), lengths.reshape(-1))]
        return Counted(owner, llq16.values_of(words >> 5), llq16.COUNT_OF_CODE[words & 31].astype(np.int64))


def values_by_group(
    sources: npt.NDArray[np.integer],
    shape: tuple[int, int, int],
    groups: Sequence[Ints],
    lengths: Sequence[Ints],
    words: Sequence[Words],
) -> Values:
    """Return values from sketches in any order.

    `groups` are flat indices of (window, source, VM) in an array of `shape`.
    """
    none = np.empty(0, np.int64)
    group, length = np.concatenate([none, *groups]), np.concatenate([none, *lengths])
    every = np.concatenate([np.empty(0, np.uint16), *words])
    order = np.argsort(group, kind="stable")
    ordered = every[_ranges((np.cumsum(length) - length)[order], length[order])]
    held = np.bincount(group, weights=length, minlength=int(np.prod(shape))).astype(np.int64)
    return Values(sources, (np.cumsum(held) - held).reshape(shape), held.reshape(shape), ordered)


def _ranges(starts: Ints, lengths: Ints) -> Ints:
    """Return `lengths` numbers from each of `starts` on, one range after the other."""
    ends = np.cumsum(lengths)
    numbers: Ints = np.arange(int(lengths.sum())) + np.repeat(starts - (ends - lengths), lengths)
    return numbers
