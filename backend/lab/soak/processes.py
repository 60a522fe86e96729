"""Memory and open files of the product's processes through time.

The memory of a process is its anonymous memory (its share of what it shares): unlike the resident memory it has neither
the buffers of PostgreSQL nor the pages of files, which grow until everything was touched once.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import linear_regression

import psutil

from sinemora.operations.embedded.replacing import program_of

WARM_S = 240.0
"""Time after the start of a program in which its memory grows: code is loaded, caches and pools fill."""
LIFE_S = 300.0
"""Shortest time after that for which growth says something."""
_MIB = 1 << 20
_ANONYMOUS = re.compile(r"^Pss_Anon:\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True)
class Sample:
    """Memory (MiB) and open files of a program with its children; `life` changes when it starts again."""

    at: float
    name: str
    life: str
    memory_mib: float
    files: int


@dataclass(frozen=True)
class Growth:
    """Memory and open files of a program at its first and last sample, and their growth per hour.

    Growth is that of a straight line through its longest life; None when no life was long enough.
    """

    first_mib: float
    last_mib: float
    mib_per_h: float | None
    first_files: int
    last_files: int
    files_per_h: float | None


def sample(pids: Mapping[str, int], at: float) -> list[Sample]:
    """Return a sample of each program that runs; those that end meanwhile are left out."""
    found = []
    for name, pid in pids.items():
        try:
            root = psutil.Process(pid)
            group = [root, *root.children(recursive=True)]
            memory = sum(_anonymous_mib(one.pid) for one in group)
            files = sum(one.num_fds() for one in group)
        except (psutil.Error, OSError):
            continue
        found.append(Sample(at, name, f"{pid} {program_of(pid)}", memory, files))
    return found


def _anonymous_mib(pid: int) -> float:
    match = _ANONYMOUS.search(Path(f"/proc/{pid}/smaps_rollup").read_text())
    return int(match[1]) * 1024 / _MIB if match else 0.0


def growth(samples: Iterable[Sample]) -> dict[str, Growth]:
    """Return the growth of each program."""
    lives: dict[str, dict[str, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for one in samples:
        lives[one.name][one.life].append(one)
    found = {}
    for name, of_name in lives.items():
        every = [one for life in of_name.values() for one in life]
        warm = [[one for one in life if one.at - life[0].at >= WARM_S] for life in of_name.values()]
        longest = max(warm, key=lambda life: life[-1].at - life[0].at if life else 0.0)
        found[name] = Growth(
            every[0].memory_mib,
            every[-1].memory_mib,
            _per_h(longest, [one.memory_mib for one in longest]),
            every[0].files,
            every[-1].files,
            _per_h(longest, [float(one.files) for one in longest]),
        )
    return found


def _per_h(life: Sequence[Sample], values: Sequence[float]) -> float | None:
    """Return the slope of values per hour; None for a life too short to tell."""
    at = [one.at for one in life]
    return linear_regression(at, values).slope * 3600 if at and at[-1] - at[0] >= LIFE_S else None
