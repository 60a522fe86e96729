"""Load rules for evaluation from rows and from JSON."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from uuid import UUID

import numpy as np
from sqlalchemy.orm import Session

from sinemora.alerts.evaluation.baseline import Flags
from sinemora.alerts.evaluation.rule import Among, Condition, Kind, Rule, Severity, Timescale
from sinemora.alerts.models import AlertRule
from sinemora.alerts.rules import queries
from sinemora.applications.models import Application
from sinemora.fleet.meshes.plan import Member, MeshState
from sinemora.kit.db import named
from sinemora.kit.lru_cache import LruCache
from sinemora.measurements.aggregate.matrix import Metric, Statistic


def rules_of(session: Session, mesh: MeshState) -> list[Rule]:
    """Return the enabled rules of a mesh."""
    return [
        rule_of(row, scope_mask(session, mesh, row.scope)) for row in queries.rules_of(session, mesh.id) if row.enabled
    ]


# Rules without a scope, by mesh, with their versions: a scope depends on names, labels and applications too.
_Versions = list[tuple[UUID, int]]
_known: LruCache[UUID, tuple[_Versions, list[Rule]]] = LruCache(100_000)


def rules_of_meshes(session: Session, meshes: Collection[MeshState]) -> dict[UUID, list[Rule]]:
    """Return the enabled rules of meshes by mesh; those that did not change since the last call take one query."""
    versions = queries.versions_of_rules(session, [mesh.id for mesh in meshes])
    rules = {}
    for mesh in meshes:
        of_mesh = versions.get(mesh.id, [])
        known = _known.get(mesh.id)
        if known is not None and known[0] == of_mesh:
            rules[mesh.id] = known[1]
            continue
        rules[mesh.id] = rules_of(session, mesh)
        if all(rule.scope is None for rule in rules[mesh.id]):
            _known.put(mesh.id, (of_mesh, rules[mesh.id]), size=1 + len(of_mesh))
    return rules


def rule_of(row: AlertRule, scope: Flags | None) -> Rule:
    return Rule(
        str(row.id),
        row.name,
        condition_of(row.condition),
        Severity(row.severity),
        row.windows_x,
        row.windows_y,
        row.sources_min,
        row.hold_s,
        row.keep_firing_s,
        scope,
    )


def condition_of(fields: dict[str, object]) -> Condition:
    return Condition(
        kind=Kind(str(fields["kind"])),
        metric=Metric(str(fields["metric"])),
        statistic=Statistic(str(fields["statistic"])),
        above=float(str(fields["above"])),
        deviations=float(str(fields["deviations"])),
        rise_ns=float(str(fields["rise_ns"])),
        timescale=Timescale(str(fields["timescale"])),
        over_s=int(str(fields.get("over_s", 0))),
        within_s=int(str(fields.get("within_s", 0))),
        among=Among(str(fields.get("among", Among.FLOWS))),
        below=float(str(fields.get("below", 0.0))),
    )


def condition_json(condition: Condition) -> dict[str, object]:
    return asdict(condition)


def scope_mask(session: Session, mesh: MeshState, scope: dict[str, object]) -> Flags | None:
    """Return the mask of paths in a scope, None for all."""
    fields = {name: value for name, value in scope.items() if value}
    if not fields:
        return None
    names = [member.name for member in mesh.members]
    zones = [member.zone_name for member in mesh.members]
    mask = np.ones((len(names),) * 2, np.bool_)
    if some := fields.get("zones"):
        mask &= _either(zones, some)
    if some := fields.get("vms"):
        mask &= _either(names, some)
    for kind, axis in (("zone_pair", zones), ("path", names)):
        if pair := fields.get(kind):
            source, target = list(pair)  # type: ignore[call-overload]
            mask &= np.outer([one == source for one in axis], [one == target for one in axis])
    if labels := fields.get("labels"):
        mask &= _labelled(session, mesh.members, queries.labels_of_vms(session, mesh.id), dict(labels))  # type: ignore[call-overload]
    if name := fields.get("application"):
        application = named(session, Application, str(name), mesh.id)
        vms = set() if application is None else {task.vm_id for task in application.tasks}
        members = np.array([member.id in vms for member in mesh.members], np.bool_)
        mask &= np.outer(members, members)
    return mask


def _either(axis: Sequence[str], names: object) -> Flags:
    chosen = np.array([one in list(names) for one in axis], np.bool_)  # type: ignore[call-overload]
    mask: Flags = chosen[:, None] | chosen[None, :]
    return mask


def _labelled(
    session: Session, members: Sequence[Member], labels: dict[int, dict[str, str]], selector: dict[str, str]
) -> Flags:
    chosen = np.array(
        [all(labels.get(member.key, {}).get(name) == value for name, value in selector.items()) for member in members],
        np.bool_,
    )
    mask: Flags = chosen[:, None] | chosen[None, :]
    return mask
