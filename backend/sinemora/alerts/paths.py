"""Paths of an incident as bytes."""

import numpy as np

from sinemora.alerts.evaluation.baseline import Ints
from sinemora.fleet.meshes.plan import MeshState
from sinemora.measurements.aggregate.matrix import NONE, positions_of


def path_bytes(cells: Ints, mesh: MeshState) -> bytes:
    """Return paths (flat) as pairs of VM keys, int32, little-endian."""
    keys = np.array([member.key for member in mesh.members], "<i4")
    return keys[np.stack((cells // keys.size, cells % keys.size), axis=1)].tobytes() if cells.size else b""


def cells_of(paths: bytes, mesh: MeshState) -> Ints:
    """Return paths (flat) from bytes, without those of VMs that left the mesh."""
    keys = np.array([member.key for member in mesh.members], np.int64)
    ends = positions_of(keys, np.frombuffer(paths, "<i4").astype(np.int64)).reshape(-1, 2)
    known = (ends != NONE).all(axis=1)
    cells: Ints = np.unique(ends[known, 0] * keys.size + ends[known, 1])
    return cells


def share_of_paths(one: bytes, other: bytes) -> float:
    """Return the share of the paths of either that both have, 0 to 1 (Jaccard index)."""
    some, more = (np.unique(np.frombuffer(paths, "<i8")) for paths in (one, other))
    both = np.intersect1d(some, more, assume_unique=True).size
    return both / max(some.size + more.size - both, 1)
