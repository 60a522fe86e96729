"""Options of an application: at once for a small one on a small mesh, else as a job."""

import hashlib
import json
from datetime import timedelta
from typing import Any
from uuid import UUID

from fastapi import Response
from sqlalchemy.orm import Session

from sinemora.access.tenants.access import Actor
from sinemora.applications.service import get_application
from sinemora.fleet.meshes.service import mesh_state
from sinemora.jobs import service as jobs
from sinemora.jobs.context import JobContext
from sinemora.jobs.models import Queue
from sinemora.jobs.registry import JobKind, register
from sinemora.jobs.responses import accepted
from sinemora.recommendations.what_if import service
from sinemora.recommendations.what_if.schemas import OptionsRead, OptionsRequest

AT_ONCE_MOST = 1_000
"""Maximum number of tasks times VMs that a request computes itself: about 0.2 s."""
_FRESH = timedelta(seconds=10)
"""An equal request within this time returns the job of the first one: a window later the measurements differ."""


def respond(
    session: Session, actor: Actor, application_id: UUID, request: OptionsRequest, respond_async: bool
) -> OptionsRead | Response:
    """Return the options, or 202 with the job that finds them. ProductError `application_unknown`, `jobs_too_many`."""
    application = get_application(session, application_id)
    mesh = mesh_state(session, application.mesh_id)
    if not respond_async and len(application.tasks) * len(mesh.members) <= AT_ONCE_MOST:
        return service.options_of(session, application_id, request)
    params = {"application_id": str(application_id), "request": request.model_dump(mode="json")}
    same = json.dumps({**params, "version": application.updated_at.isoformat()}, sort_keys=True)
    digest = hashlib.sha256(same.encode()).digest()
    title = f"Options of {application.name}"
    return accepted(jobs.submit(session, actor, FIND_OPTIONS, title, params, digest=digest, fresh_for=_FRESH))


def _work(running: JobContext) -> dict[str, Any]:
    running.progress(0.0, "reading windows")
    request = OptionsRequest.model_validate(running.params["request"])
    with running.session() as session:
        found = service.options_of(session, UUID(running.params["application_id"]), request, running.progress)
    with running.output("options.json", "application/json") as file:
        file.write(found.model_dump_json(by_alias=True).encode())
    return {"options": len(found.options)}


FIND_OPTIONS = register(JobKind("what_if.find_options", Queue.solve, _work, libraries=("scipy.special",)))
