"""Submit jobs as a member of a tenant, and read them."""

from typing import Any
from uuid import UUID

from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import Role
from sinemora.jobs import executor, service
from sinemora.jobs.registry import JobKind
from sinemora.kit.db import tenant_session
from tests.api_clients import Caller, Member


def ask(owner: Member, kind: JobKind, **options) -> UUID:
    actor = Actor(owner.tenant_id, owner.tenant_key, "t", "user", owner.user_id, owner.email, Role.owner)
    with tenant_session(owner.tenant_id) as session:
        return service.submit(session, actor, kind, "A test", {"n": 3}, **options).id


def found(owner: Caller, job_id: UUID) -> dict[str, Any]:
    """Return a job as its tenant reads it."""
    job: dict[str, Any] = owner.get(f"/v1/jobs/{job_id}").json()
    return job


def finished(owner: Member, kind: JobKind, **options) -> dict[str, Any]:
    """Submit a job, run it once, and return it."""
    job_id = ask(owner, kind, **options)
    executor.run(owner.tenant_id, job_id)
    return found(owner, job_id)
