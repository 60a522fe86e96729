"""Submit jobs as a member of a tenant, and read them."""

import threading
from typing import Any
from uuid import UUID

from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import Role
from sinemora.jobs import executor, service
from sinemora.jobs.registry import JobKind
from sinemora.kit.db import tenant_session
from tests.api_clients import Caller, Member
from tests.waits import WAIT_MOST_S


def ask(owner: Member, kind: JobKind, **options) -> UUID:
    actor = Actor(owner.tenant_id, owner.tenant_key, "t", "user", owner.user_id, owner.email, Role.owner)
    with tenant_session(owner.tenant_id) as session:
        return service.submit(session, actor, kind, "A test", {"n": 3}, **options).id


def found(owner: Caller, job_id: UUID) -> dict[str, Any]:
    """Return a job as its tenant reads it."""
    return owner.get(f"/v1/jobs/{job_id}").json()


def ran(owner: Member, job_id: UUID) -> dict[str, Any]:
    """Run a job once, and return it."""
    executor.run(owner.tenant_id, job_id)
    return found(owner, job_id)


def finished(owner: Member, kind: JobKind, **options) -> dict[str, Any]:
    """Submit a job, run it once, and return it."""
    return ran(owner, ask(owner, kind, **options))


def in_background(owner: Member, job_id: UUID) -> threading.Thread:
    """Let a thread run a job, as a worker does."""
    thread = threading.Thread(target=executor.run, args=(owner.tenant_id, job_id), daemon=True)
    thread.start()
    return thread


def cancel(owner: Caller, job_id: UUID, worker: threading.Thread) -> None:
    """Cancel a job and wait until its worker has left it."""
    assert owner.post(f"/v1/jobs/{job_id}/cancel").status_code == 200
    worker.join(WAIT_MOST_S)
    assert not worker.is_alive()
