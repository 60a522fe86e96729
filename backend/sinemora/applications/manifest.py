"""Applications as YAML: what a tenant keeps in its own repository, and brings back.

One document, `applications:` a list of what `ApplicationCreate` takes, with names instead of ids. Bringing it back
makes what is new by name and changes what differs; what the file does not name is left alone.
"""

from typing import Any

import yaml
from sqlalchemy.orm import Session

from sinemora.applications import queries, reading, service
from sinemora.applications.schemas import ApplicationCreate, ApplicationRead, ApplicationUpdate, ManifestResult
from sinemora.curves.schemas import Origin
from sinemora.kit.errors import ProductError
from sinemora.kit.etag import IfMatch
from sinemora.kit.manifest import declared
from sinemora.tenants.access import Actor

_WHEN_SAID = (
    "description",
    "reference_us",
    "objective",
    "moves_max",
    "move_cost",
    "per_vm_max",
    "per_host_max",
    "per_zone_max",
)
_OF_TASK = ("root", "pinned", "slots", "cpu_millicores", "memory_mib")
_DEFAULT_OF_TASK = {"root": False, "pinned": False, "slots": 1, "cpu_millicores": 0, "memory_mib": 0}


def written(applications: list[ApplicationRead]) -> str:
    """Applications as YAML; defaults are left out."""
    text: str = yaml.safe_dump(
        {"applications": [_declared(one) for one in applications]}, sort_keys=False, allow_unicode=True
    )
    return text


def bring(session: Session, actor: Actor, text: bytes) -> ManifestResult:
    """Make the tenant's applications what a manifest says, all or nothing.

    ProductError `manifest_invalid` and those of `service`, with pointers into the document.
    """
    done = ManifestResult(created=[], changed=[], unchanged=[])
    for place, body in enumerate(declared(text, "applications", ApplicationCreate, "name, mesh, curve and tasks")):
        try:
            _bring_one(session, actor, body, done)
        except ProductError as error:
            under = f"#/applications/{place}"
            places = [
                {**one, "pointer": under + one["pointer"].removeprefix("#")} for one in error.extra.get("errors") or []
            ]
            error.extra["errors"] = places or [{"pointer": under, "message": error.detail}]
            raise
    return done


def _bring_one(session: Session, actor: Actor, body: ApplicationCreate, done: ManifestResult) -> None:
    found = queries.application_named(session, body.name)
    if found is None:
        service.create_application(session, actor, body)
        done.created.append(body.name)
        return
    before = reading.shown(session, [found])[0]
    if body.mesh not in (before.mesh.name, str(before.mesh.id)):
        raise ProductError(
            "mesh_fixed", 409, f"{body.name} is on the mesh {before.mesh.name}; delete it to declare it on another."
        )
    with session.begin_nested() as attempt:
        said = ApplicationUpdate.model_validate(body.model_dump(exclude={"mesh"}))
        changed = service.update_application(session, actor, found.id, said, IfMatch("*", required=True))
        if _declared(reading.shown(session, [changed])[0]) == _declared(before):
            attempt.rollback()
            done.unchanged.append(body.name)
            return
    done.changed.append(body.name)


def _declared(one: ApplicationRead) -> dict[str, Any]:
    """What its owner would write to get this application."""
    said: dict[str, Any] = {"name": one.name, "mesh": one.mesh.name}
    if one.curve.origin is Origin.OWN:
        said |= {"curve": one.curve.name, "curve_number": one.curve.number}
    else:
        said["curve"] = one.curve.id
    said |= {field: value for field in _WHEN_SAID if (value := getattr(one, field)) not in (None, "", 0.0)}
    if one.zones:
        said["zones"] = [zone.name for zone in one.zones]
    if one.apart_from:
        said["apart_from"] = [other.name for other in one.apart_from]
    said["tasks"] = [
        {"name": task.name}
        | ({} if task.vm is None else {"vm": task.vm.name})
        | {field: value for field in _OF_TASK if (value := getattr(task, field)) != _DEFAULT_OF_TASK[field]}
        for task in one.tasks
    ]
    if one.edges:
        said["edges"] = [
            {"source": edge.source, "target": edge.target} | ({} if edge.weight == 1 else {"weight": edge.weight})
            for edge in sorted(one.edges, key=lambda edge: (edge.source, edge.target))
        ]
    return said
