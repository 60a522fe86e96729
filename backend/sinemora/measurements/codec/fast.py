"""Compiled loops where this process has them: long-running ones load them in the background, the others go without.

Until they are loaded, and in short-lived commands, the same is done in numpy, with the same results. Work is shared by
`THREADS` threads, for the loops let go of the interpreter's lock.
"""

import fcntl
import gc
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import structlog

log = structlog.get_logger(__name__)

THREADS = 2

_lock = threading.Lock()
_loaded: "_Loaded | None" = None
_pool: ThreadPoolExecutor | None = None
_asked = threading.Event()


@dataclass(frozen=True, slots=True)
class _Loaded:
    """Modules of compiled loops."""

    loops: Any
    packing: Any
    picking: Any
    intake: Any
    wire: Any


def loops() -> Any:
    """The module of compiled loops, None while there is none."""
    return _loaded and _loaded.loops


def packing() -> Any:
    """The module of compiled loops of frames as bytes, None while there is none."""
    return _loaded and _loaded.packing


def picking() -> Any:
    """The module of compiled loops that read one number of frames, None while there is none."""
    return _loaded and _loaded.picking


def intake() -> Any:
    """The module of compiled loops of intake, None while there is none."""
    return _loaded and _loaded.intake


def wire() -> Any:
    """The module of compiled loops that read reports, None while there is none."""
    return _loaded and _loaded.wire


def warm(delay_s: float = 0) -> None:
    """Load the loops in the background, once a process; nobody waits for it."""
    if _asked.is_set():
        return
    _asked.set()
    timer = threading.Timer(delay_s, _load_calmly)
    timer.daemon = True
    timer.start()


def stay_without() -> None:
    """Never load them in the background of this process: a test says itself when they are there."""
    _asked.set()


def load() -> None:
    """Load the loops now: from the cache, or compiled, which takes many seconds of processor time."""
    global _loaded, _pool
    with _lock:
        if _loaded is not None:
            return
        from sinemora.measurements.codec import intake_loops, layout_loops, picking_loops, wire_loops
        from sinemora.measurements.codec import loops as found

        # One process compiles, the others find what it leaves.
        with open(found.__file__, "rb") as code:
            fcntl.flock(code, fcntl.LOCK_EX)
            _exercise(found)
            _exercise_packing(layout_loops)
            _exercise_picking(picking_loops)
            _exercise_intake(intake_loops)
            _exercise_wire(wire_loops)
        _pool = ThreadPoolExecutor(THREADS, "loops")
        _loaded = _Loaded(found, layout_loops, picking_loops, intake_loops, wire_loops)
        # They stay to the end, and walking what they are made of stopped the whole process for 60 ms, time and again.
        gc.collect()
        gc.freeze()


def each(work: Iterable[Callable[[], Any]]) -> list[Any]:
    """What these return, in their order; run side by side."""
    assert _pool is not None
    return [future.result() for future in [_pool.submit(one) for one in work]]


def halves(size: int) -> list[tuple[int, int]]:
    """[0, size) cut for the threads."""
    cuts = [size * part // THREADS for part in range(THREADS + 1)]
    return list(pairwise(cuts))


def _load_calmly() -> None:
    try:
        load()
    except Exception:
        log.exception("compiled loops not loaded; numpy does their work")


def _exercise(found: Any) -> None:
    """Call every loop with nothing to do, so that it is compiled for the types it is used with."""
    ints, words, versions = np.empty(0, np.int64), np.empty(0, np.uint16), np.empty(0, np.uint8)
    columns = np.empty((8, 3, 0), np.int32)
    found.merge_columns(columns.reshape(8, 0), ints, np.empty((8, 0), np.int32))
    members, bounds = found.group_members(ints, 0)
    found.merge_sketches(
        words, ints, ints, members, bounds, 0, 0, np.empty(32, np.int32), np.empty(0), np.empty((0, 0), np.int64),
        ints, words, ints,
    )  # fmt: skip
    found.newest_last(ints, ints, ints, np.empty((0, 0), np.int64))
    flags = np.empty(0, bool)
    found.place_cells(ints, 0, flags, versions, ints, flags, ints)
    found.measure_cells(
        0, 0, columns.reshape(8, 0), np.empty(0, np.float32), np.empty((4, 0), np.uint16), ints,
        np.empty((2, 0), np.int32), ints, np.empty((2, 0), np.int32), ints, flags, flags, 0, 0, False,
        ints, ints, ints, versions, flags,
    )  # fmt: skip
    found.bin_codes(ints, flags, words)


def _exercise_packing(found: Any) -> None:
    """The same for the loops of frames."""
    # Bytes that are read cannot be written: another type.
    read, ints, codes = np.frombuffer(b"", np.uint64), np.empty(0, np.int64), np.empty(0, np.uint16)
    columns, quantiles, sources = np.zeros((8, 3, 1), np.int32), np.zeros((4, 3, 1), np.uint16), np.zeros(1, np.uint8)
    flows, by_flow, lengths = np.zeros(1, np.uint16), np.empty((3, 2, 0), np.int32), np.zeros((3, 1), np.int64)
    room = np.zeros(found.sealed_words(columns, by_flow, codes, 1), np.uint64)
    found.seal(columns, quantiles, flows, sources, by_flow, lengths, codes, 1, room, np.empty((1, 2, 2), np.int64))
    found.unpack_stats(read, ints, ints, ints, ints, 0, 0, columns, quantiles, flows, sources, ints)
    found.unpack_stats_at(read, ints, ints, ints, ints, 0, 0, columns, quantiles, flows, sources)
    found.first_harmed(read, ints, ints)
    found.unpack_lengths(read, ints, ints, ints, ints, np.empty((3, 0), np.int64))
    found.unpack_words(read, ints, ints, ints, ints, 0, 0, columns, np.empty((3, 0), np.int64), ints, ints, codes)


def _exercise_picking(found: Any) -> None:
    """The same for the loop that reads one number of frames."""
    read, ints = np.frombuffer(b"", np.uint64), np.empty(0, np.int64)
    found.round_trip_codes(read, ints, ints, ints, ints, 0, 0, 0, np.empty(0, np.uint16))


def _exercise_intake(found: Any) -> None:
    """The same for the loops of intake."""
    ints, some, codes = np.empty(0, np.int64), np.empty((3, 0), np.int64), np.empty(0, np.uint16)
    found.settle(
        0, ints, ints, np.empty((7, 3, 0), np.int64), np.empty((3, 0)), some, codes, np.empty((8, 3, 0), np.int32),
        np.empty((4, 3, 0), np.uint16), codes,
    )  # fmt: skip


def _exercise_wire(found: Any) -> None:
    """The same for the loops that read reports."""
    body, ints, some = np.frombuffer(b"", np.uint8), np.empty(0, np.int64), np.empty((3, 0), np.int64)
    parts, values = np.full((5, 2), -1), np.empty((7, 3, 0), np.int64)
    found.fields(body, 0, 0, np.empty((1, 5), np.int64))
    found.outline(body, 0, 0, ints, parts, np.empty((1, 2), np.int64))
    found.read(body, parts, ints, ints, values, np.empty((3, 0), np.uint64), some, np.empty(0, np.uint16))
