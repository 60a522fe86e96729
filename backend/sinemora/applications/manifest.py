"""YAML manifest of applications, for a tenant's own repository.

One document: `applications:` lists the fields of `ApplicationCreate`, with names instead of ids. An import creates new
applications by name and updates those that differ. Applications not in the file stay.
"""

from typing import Any

import yaml
from sqlalchemy.orm import Session

from sinemora.access.tenants.access import Actor
from sinemora.applications import reading, service
from sinemora.applications.curves.schemas import CurveOrigin
from sinemora.applications.models import Application
from sinemora.applications.schemas import (
    MOVE_COST,
    ApplicationCreate,
    ApplicationRead,
    ApplicationUpdate,
    ManifestResult,
)
from sinemora.kit.db import named
from sinemora.kit.errors import ProductError
from sinemora.kit.http.etag import IfMatch
from sinemora.kit.manifest import declared

_WHEN_SAID = ("description", "reference_us", *service.PLAIN[1:])
_DEFAULTS = {"move_cost": (MOVE_COST,), "reference_us": (None,)}
_OF_TASK = ("root", "pinned", "slots", "cpu_millicores", "memory_mib")
_DEFAULT_OF_TASK = {"root": False, "pinned": False, "slots": 1, "cpu_millicores": 0, "memory_mib": 0}


def written(applications: list[ApplicationRead]) -> str:
    """Return applications as YAML without default values."""
    text: str = yaml.safe_dump(
        {"applications": [_declared(application) for application in applications]}, sort_keys=False, allow_unicode=True
    )
    return text


def bring(session: Session, actor: Actor, text: bytes) -> ManifestResult:
    """Apply a manifest to the tenant's applications, all or nothing.

    ProductError `manifest_invalid` and those of `service`, with pointers into the document.
    """
    done = ManifestResult(created=[], changed=[], unchanged=[])
    bodies = declared(text, "applications", ApplicationCreate, "name, mesh, curve and tasks")
    service.lock_meshes(session, bodies)
    for place, body in enumerate(bodies):
        try:
            _bring_one(session, actor, body, done)
        except ProductError as error:
            under = f"#/applications/{place}"
            places = [
                {**problem, "pointer": under + problem["pointer"].removeprefix("#")}
                for problem in error.extra.get("errors") or []
            ]
            error.extra["errors"] = places or [{"pointer": under, "message": error.detail}]
            raise
    return done


def _bring_one(session: Session, actor: Actor, body: ApplicationCreate, done: ManifestResult) -> None:
    application = named(session, Application, body.name, service.get_mesh(session, body.mesh).id)
    if application is None:
        service.create_application(session, actor, body)
        done.created.append(body.name)
        return
    before = reading.shown(session, [application])[0]
    if body.mesh not in (before.mesh.name, str(before.mesh.id)):
        raise ProductError(
            "mesh_fixed", 409, f"{body.name} is on the mesh {before.mesh.name}; delete it to declare it on another."
        )
    with session.begin_nested() as attempt:
        update = ApplicationUpdate.model_validate(body.model_dump(exclude={"mesh"}))
        changed = service.update_application(session, actor, application.id, update, IfMatch("*", required=True))
        if _declared(reading.shown(session, [changed])[0]) == _declared(before):
            attempt.rollback()
            done.unchanged.append(body.name)
            return
    done.changed.append(body.name)


def _declared(application: ApplicationRead) -> dict[str, Any]:
    """Return the declaration that would create this application."""
    declaration: dict[str, Any] = {"name": application.name, "mesh": application.mesh.name}
    if application.curve.origin is CurveOrigin.OWN:
        declaration |= {"curve": application.curve.name, "curve_number": application.curve.number}
    else:
        declaration["curve"] = application.curve.id
    declaration |= {
        field: value
        for field in _WHEN_SAID
        if (value := getattr(application, field)) not in _DEFAULTS.get(field, (None, "", False))
    }
    if application.zones:
        declaration["zones"] = [zone.name for zone in application.zones]
    if application.apart_from:
        declaration["apart_from"] = [other.name for other in application.apart_from]
    declaration["tasks"] = [
        {"name": task.name}
        | ({} if task.vm is None else {"vm": task.vm.name})
        | {field: value for field in _OF_TASK if (value := getattr(task, field)) != _DEFAULT_OF_TASK[field]}
        for task in application.tasks
    ]
    if application.edges:
        declaration["edges"] = [
            {"source": edge.source, "target": edge.target} | ({} if edge.weight == 1 else {"weight": edge.weight})
            for edge in sorted(application.edges, key=lambda edge: (edge.source, edge.target))
        ]
    return declaration
