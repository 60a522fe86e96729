"""Submit jobs as a member of a tenant."""

from uuid import UUID

from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import Role
from sinemora.jobs import service
from sinemora.jobs.registry import JobKind
from sinemora.kit.db import tenant_session
from tests.api_clients import Member


def ask(owner: Member, kind: JobKind, **options) -> UUID:
    actor = Actor(owner.tenant_id, owner.tenant_key, "t", "user", owner.user_id, owner.email, Role.owner)
    with tenant_session(owner.tenant_id) as session:
        return service.submit(session, actor, kind, "A test", {"n": 3}, **options).id
