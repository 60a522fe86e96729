"""Axes of results: the VMs of a mesh as keys and as ends of paths, and the unit of a metric."""

from typing import Literal

import numpy as np

from sinemora.fleet.meshes.plan import Member, MeshState
from sinemora.measurements.aggregate.matrix import Metric
from sinemora.measurements.codec.llq16 import Ints
from sinemora.measurements.schemas import PathEnd


def end_of(member: Member) -> PathEnd:
    return PathEnd(id=member.id, name=member.name, zone_name=member.zone_name)


def keys_of(mesh: MeshState) -> Ints:
    """Return the VM keys of the members, in the order of matrices."""
    return np.array([member.key for member in mesh.members], np.int64)


def unit_of(metric: Metric) -> Literal["ns", "ratio"]:
    return "ratio" if metric is Metric.LOSS else "ns"
