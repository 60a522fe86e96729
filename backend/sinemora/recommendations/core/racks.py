"""Racks of the published flow network: labels or hosts that VMs state, else clusters of measured round trips.

The published policy (Popescu, UCAM-CL-TR-937, section 6.3) knows the racks of a data centre. A tenant of a cloud sees
none, so VMs of a zone that are equally near to one another count as one.
"""

from enum import StrEnum

import numpy as np

from sinemora.applications.curves.core.table import STEP_US
from sinemora.applications.performance import Indices
from sinemora.recommendations.core.instance import ImputedMatrix, Instance, numbered


class RackSource(StrEnum):
    """Origin of the racks."""

    LABELS = "labels"
    HOSTS = "hosts"
    ROUND_TRIPS = "round_trips"


def racks_of(instance: Instance, assumed: ImputedMatrix) -> tuple[Indices, RackSource]:
    """Return the rack of each machine, numbered from 0, and where the racks come from.

    Labels `rack` count where any VM has one, within its zone, then hosts; a VM without one is its own rack. Otherwise
    complete linkage joins VMs of a zone while the largest round trip of a rack stays within one step of a curve table
    (10 µs) of the smallest in the zone.
    """
    if any(machine.rack for machine in instance.machines):
        named = [(machine.zone_id, machine.rack) if machine.rack else machine.id for machine in instance.machines]
        return numbered(named), RackSource.LABELS
    if any(machine.host for machine in instance.machines):
        return instance.racks, RackSource.HOSTS
    racks = np.zeros(len(instance.machines), np.intp)
    first = 0
    for zone in np.unique(instance.zones):
        members = np.flatnonzero(instance.zones == zone)
        of_zone = _clusters(assumed.round_trips_ns[np.ix_(members, members)])
        racks[members] = first + of_zone
        first += int(of_zone.max()) + 1
    return racks, RackSource.ROUND_TRIPS


def _clusters(round_trips_ns: np.ndarray) -> Indices:
    """Return the cluster of each VM of a zone; shape (VMs, VMs) to (VMs,)."""
    if len(round_trips_ns) < 2:
        return np.zeros(len(round_trips_ns), np.intp)
    # Imported here: the API starts without it.
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    between = np.maximum(round_trips_ns, round_trips_ns.T)
    np.fill_diagonal(between, 0.0)
    distances = squareform(between.astype(np.float64), checks=False)
    most = float(distances.min()) + STEP_US * 1e3
    clusters = fcluster(linkage(distances, "complete"), most, "distance")
    return np.asarray(clusters - 1, np.intp)
