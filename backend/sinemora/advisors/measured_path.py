"""Delays of one measured path in both directions, shared by the advisors."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import cast
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.fleet.meshes.plan import Member, MeshState
from sinemora.kit.errors import ProductError
from sinemora.measurements.query.budget import REQUEST
from sinemora.measurements.query.requests import SELECTIONS_MAX, DistributionRequest
from sinemora.measurements.query.responses import DistributionItem, DistributionRead
from sinemora.measurements.query.series import dispersion

Delay = str
"""Statistic of a delay: `mean`, or a key of `dispersion.QUANTILES`."""


@dataclass(frozen=True, slots=True)
class PathDelays:
    """Distributions of both directions of a path over a range, and the bound of their clock error (ns)."""

    source: Member
    target: Member
    outbound: DistributionItem
    inbound: DistributionItem

    def delays_ns(self, statistic: Delay) -> tuple[int, int]:
        """Return a statistic of the delay out and back, ns."""
        return statistic_ns(self.outbound, statistic), statistic_ns(self.inbound, statistic)

    @property
    def clock_error_ns(self) -> int:
        """Larger clock error of the two directions; their sum has none, since the offset cancels."""
        return max(self.outbound.clock_error_ns or 0, self.inbound.clock_error_ns or 0)


def member_named(mesh: MeshState, reference: str, pointer: str) -> Member:
    """Return the member of a mesh with this name or id. ProductError `vm_not_in_mesh`."""
    found = next((member for member in mesh.members if reference in (member.name, str(member.id))), None)
    if found is None:
        raise ProductError(
            "vm_not_in_mesh",
            422,
            f"Unknown VM: {reference} is not a VM of {mesh.name}. Give the name or id of one.",
            errors=[{"pointer": pointer, "message": "is not a VM of the mesh"}],
        )
    return found


def path_delays(
    session: Session, mesh: MeshState, source: Member, target: Member, minutes: int, pointer: str
) -> PathDelays:
    """Read the delays of a path over the last minutes. ProductError `path_unmeasured`, `path_same_ends`."""
    if source.id == target.id:
        raise ProductError(
            "path_same_ends",
            422,
            f"No path: {source.name} is both ends. Choose two VMs.",
            errors=[{"pointer": pointer, "message": "a path needs two different ends"}],
        )
    now = datetime.now(UTC)
    ((outbound, inbound),) = delays_between(
        session, mesh, [(source.id, target.id)], now - timedelta(minutes=minutes), now
    )
    if not outbound.count or not inbound.count:
        raise ProductError(
            "path_unmeasured",
            409,
            f"No delays: {source.name} to {target.name} has none in the last {minutes} min. Choose a longer range.",
            errors=[{"pointer": pointer, "message": "has no measured delays in this range"}],
        )
    return PathDelays(source, target, outbound, inbound)


def delays_between(
    session: Session, mesh: MeshState, pairs: Sequence[tuple[UUID, UUID]], start: datetime, end: datetime
) -> list[tuple[DistributionItem, DistributionItem]]:
    """Return the distributions of the delays out and back of pairs of VMs of a mesh in [start, end).

    A direction that was not measured has the count 0. ProductErrors of `dispersion.distribution`.
    """
    directions = list(dict.fromkeys(ends for one, other in pairs for ends in ((one, other), (other, one))))
    found: dict[tuple[UUID, UUID], DistributionItem] = {}
    for first in range(0, len(directions), SELECTIONS_MAX):
        some = directions[first : first + SELECTIONS_MAX]
        request = DistributionRequest(selections=[_selection(*ends) for ends in some])
        request.from_, request.to = start, end
        build = dispersion.distribution(session, mesh, request, REQUEST).read
        found |= zip(some, cast(DistributionRead, None if build is None else build()).items, strict=True)
    return [(found[pair], found[pair[::-1]]) for pair in pairs]


def statistic_ns(item: DistributionItem, statistic: Delay) -> int:
    """Return a statistic of one direction, ns; 0 if it was not measured."""
    value = item.mean_ns if statistic == "mean" else item.quantiles_ns[statistic]
    return int(value or 0)


def _selection(source: UUID, target: UUID) -> str:
    return f"path:{source}:{target}"
