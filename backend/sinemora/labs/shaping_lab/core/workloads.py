"""Workloads of the shaping lab: the mixes of YCSB on a key-value store, and a shuffle that fetches blocks.

YCSB: B. F. Cooper et al., "Benchmarking Cloud Serving Systems with YCSB", SoCC 2010: records of ten fields of 100
bytes, reads and writes of whole records, scans of 1 to 100 records.
"""

from dataclasses import dataclass
from enum import StrEnum

RECORD_BYTES = 1_000
SCAN_MAX = 100
BLOCK_BYTES = 128 * 1024
"""Block that a task of a shuffle fetches."""
BATCH_CONNECTIONS = 4


class Operation(StrEnum):
    """Operation of a client; a read-modify-write reads a record, then updates it."""

    READ = "read"
    UPDATE = "update"
    INSERT = "insert"
    SCAN = "scan"
    READ_MODIFY_WRITE = "read-mod-write"
    FETCH = "fetch"


class WorkloadName(StrEnum):
    """Mix of YCSB, or the shuffle."""

    A = "a"
    B = "b"
    C = "c"
    D = "d"
    E = "e"
    F = "f"
    BATCH = "batch"


@dataclass(frozen=True, slots=True)
class Workload:
    """Operations with their shares, and the number of connections that repeat them, one operation at a time each."""

    name: WorkloadName
    title: str
    shares: tuple[tuple[Operation, float], ...]
    connections: int = 1


WORKLOADS = (
    Workload(WorkloadName.A, "YCSB A, update-heavy", ((Operation.READ, 0.5), (Operation.UPDATE, 0.5))),
    Workload(WorkloadName.B, "YCSB B, read-mostly", ((Operation.READ, 0.95), (Operation.UPDATE, 0.05))),
    Workload(WorkloadName.C, "YCSB C, read-only", ((Operation.READ, 1.0),)),
    Workload(WorkloadName.D, "YCSB D, read-latest", ((Operation.READ, 0.95), (Operation.INSERT, 0.05))),
    Workload(WorkloadName.E, "YCSB E, short ranges", ((Operation.SCAN, 0.95), (Operation.INSERT, 0.05))),
    Workload(WorkloadName.F, "YCSB F, read-modify-write", ((Operation.READ, 0.5), (Operation.READ_MODIFY_WRITE, 0.5))),
    Workload(WorkloadName.BATCH, "Shuffle, blocks of 128 KiB", ((Operation.FETCH, 1.0),), BATCH_CONNECTIONS),
)


def workload_named(name: str) -> Workload:
    """Return a workload by its name. KeyError for an unknown one."""
    return {workload.name.value: workload for workload in WORKLOADS}[name]
