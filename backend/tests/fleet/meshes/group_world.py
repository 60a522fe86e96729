"""Parts of random histories of a control group: a tenant's meshes with every earlier state, and its agents.

The plans, their revisions and the records of polls are the product's. The database is a list of states, of which the
last is current; a change appends one, as a transaction does.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from uuid import UUID

from sinemora.fleet.meshes import control_group
from sinemora.fleet.meshes.control_group import Barrier, GroupMember, Poll
from sinemora.fleet.meshes.plan import Member, MeshState, OnDemandPlan, plan_for, plan_revision
from sinemora.fleet.meshes.watch import TenantMeshes

MESHES = (UUID(int=1), UUID(int=2))
Plan = dict[str, Any]


Judge = Callable[[Sequence[GroupMember], Mapping[UUID, Poll], float], Barrier]


@dataclass(frozen=True)
class Faults:
    """Broken rules. `reads_apart`: each statement of a reading has a snapshot. `accepts_late`: the answer of a poll
    that was given up counts. `names_early`: a revision is named before it is in force. `stores_late`: a plan is stored
    after it is named. `notes_named_only`: polls without a revision are not recorded. `barrier`: its rule.
    """

    reads_apart: bool = False
    accepts_late: bool = False
    names_early: bool = False
    stores_late: bool = False
    notes_named_only: bool = False
    barrier: Judge = control_group.barrier


@dataclass(frozen=True)
class State:
    """A tenant at one moment: members of each mesh by VM key, its revision, its rate, the time of its last change (s),
    and orders by number.
    """

    members: tuple[frozenset[int], ...] = (frozenset(), frozenset())
    revisions: tuple[int, ...] = (1, 1)
    rates: tuple[int, ...] = (8, 8)
    changed_s: tuple[float, ...] = (0.0, 0.0)
    orders: frozenset[int] = frozenset()

    def changed(
        self, mesh: int, at_s: float, *, members: frozenset[int] | None = None, rate: int | None = None
    ) -> "State":
        """Return the state after a change of a mesh, which raises its revision."""
        return replace(
            self,
            members=_with(self.members, mesh, members),
            rates=_with(self.rates, mesh, rate),
            revisions=_with(self.revisions, mesh, self.revisions[mesh] + 1),
            changed_s=_with(self.changed_s, mesh, at_s),
        )

    @cached_property
    def fingerprint(self) -> int:
        """Return a number that changes with any revision and with the orders."""
        return hash((self.revisions, self.orders))

    @cached_property
    def meshes(self) -> tuple[MeshState, ...]:
        """Return the meshes as the product reads them."""
        return tuple(
            MeshState(id, at + 1, f"mesh-{at}", 10, rate, 1, revision, tuple(vm(key) for key in sorted(keys)))
            for at, (id, keys, rate, revision) in enumerate(
                zip(MESHES, self.members, self.rates, self.revisions, strict=True)
            )
        )

    def tenant_meshes(self, fingerprint: int | None = None) -> TenantMeshes:
        """Return the meshes and orders of all VMs; `fingerprint` is that of a reading that began earlier."""
        by_vm: dict[UUID, tuple[MeshState, ...]] = {}
        for mesh in self.meshes:
            for member in mesh.members:
                by_vm[member.id] = (*by_vm.get(member.id, ()), mesh)
        on_demand: dict[UUID, tuple[OnDemandPlan, ...]] = {}
        ends = [vm(key) for key in sorted(self.members[0])[:2]]
        if len(ends) == 2:
            orders = tuple(_order(number, *ends) for number in sorted(self.orders))
            on_demand = {end.id: orders for end in ends if orders}
        return TenantMeshes(self.fingerprint if fingerprint is None else fingerprint, by_vm, on_demand, {})

    @cached_property
    def plans(self) -> dict[int, Plan]:
        """Plans by VM key, filled when asked for."""
        return {}

    def plan_of(self, key: int) -> Plan:
        """Return the plan of an agent in this state."""
        if key not in self.plans:
            self.plans[key] = plan_in(self.tenant_meshes(), key)
        return self.plans[key]


def _with(values: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    return values if value is None else (*values[:at], value, *values[at + 1 :])


def vm(key: int) -> Member:
    """Return the VM of an agent."""
    return Member(UUID(int=key), key, f"vm-{key}", UUID(int=9), "zone", f"10.0.0.{key}", 319, 320, True)


def _order(number: int, client: Member, responder: Member) -> OnDemandPlan:
    return OnDemandPlan(UUID(int=number), number, 8, 1, 1000, 0, 10**9, False, False, client, responder)


def revision_in(meshes: TenantMeshes, key: int) -> str:
    """Return the revision of an agent's plan."""
    id = UUID(int=key)
    return plan_revision(id, meshes.by_vm.get(id, ()), [one.id for one in meshes.on_demand.get(id, ())])


def plan_in(meshes: TenantMeshes, key: int) -> Plan:
    """Return the plan of an agent, without the time of the answer."""
    id = UUID(int=key)
    return plan_for(id, key, meshes.by_vm.get(id, ()), 0, meshes.on_demand.get(id, ()))


@dataclass
class Held:
    """Plan at an agent, and the earliest version that it may be of."""

    plan: Plan
    version: int


@dataclass
class Agent:
    """Agent: the plan in force, the one on disk, and the revision that it names."""

    key: int
    in_force: Held | None = None
    on_disk: Held | None = None
    tag: str | None = None
    runs: bool = True
    run: int = 0
    reports: bool = False
    reached_s: float | None = None
    polls: int = 0

    def restart(self) -> bool:
        """Start again with the plan on disk. Return whether that is older than the one that was in force.

        Polls of the run before are forgotten.
        """
        before, self.in_force = self.in_force, self.on_disk
        self.run, self.runs, self.tag = self.run + 1, True, None
        return before is not None and (self.on_disk is None or self.on_disk.version < before.version)
