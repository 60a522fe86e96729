"""Makes what a new product starts with: a tenant, its owner, the demonstration mesh. Safe to repeat.

    python -m sinemora.embedded.first_run NAME=AGENT_ID NAME= …

A process of its own, so that the supervisor stays small without the backend in its memory. The arguments are the
demonstration machines with the identity each has on disk, if any; the answer is one line of JSON:
`{"created": bool, "password": str | null, "token": str, "strangers": [NAME, …]}`. `strangers` have no identity the
database knows and enrol with `token`.
"""

import json
import sys
from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.embedded import demo
from sinemora.inventory import agents
from sinemora.inventory.models import Vm, Zone
from sinemora.inventory.queries import living_agent
from sinemora.kit.config import settings
from sinemora.kit.db import tenant_session
from sinemora.meshes import enrolment, queries, service
from sinemora.meshes.models import Mesh
from sinemora.meshes.schemas import EnrolmentTokenCreate, MeshCreate
from sinemora.tenants.access import Actor
from sinemora.tenants.models import Role, Tenant
from sinemora.tenants.service import create_owner

TENANT = "Sinemora"


def main(arguments: list[str]) -> int:
    """Create what is missing and print the answer."""
    given = settings().owner_password
    try:
        made = create_owner(TENANT, settings().owner_email, given.get_secret_value() if given else None)
    except ValueError as error:
        print(f"SINEMORA_OWNER_EMAIL, SINEMORA_OWNER_PASSWORD: {error}", file=sys.stderr)
        return 1
    answer = {"created": made.created, "password": made.password, "token": "", "strangers": list[str]()}
    if arguments:
        identities = dict(argument.split("=", 1) for argument in arguments)
        with tenant_session(made.tenant_id) as session:
            tenant = session.get_one(Tenant, made.tenant_id)
            actor = Actor(tenant.id, tenant.key, tenant.name, "user", made.user_id, settings().owner_email, Role.owner)
            answer["token"], answer["strangers"] = prepare(session, actor, identities)
    print(json.dumps(answer))
    return 0


def prepare(session: Session, actor: Actor, identities: Mapping[str, str]) -> tuple[str, list[str]]:
    """Make the demonstration mesh one of exactly the machines of `identities` (name to agent id or empty).

    Returns an enrolment token and the machines that need it. An agent whose identity is not on this disk any more is
    revoked, or its VM could never enrol again.
    """
    mesh = queries.mesh_named(session, demo.MESH) or service.create_mesh(session, actor, MeshCreate(name=demo.MESH))
    strangers = set(identities)
    for vm in session.scalars(select(Vm).join(Zone).where(Zone.provider == demo.PROVIDER, Zone.region == demo.REGION)):
        if vm.name not in identities:
            _leave(session, actor, mesh, vm)
            continue
        agent = living_agent(session, vm.id)
        if agent is not None and str(agent.id) == identities[vm.name]:
            strangers.discard(vm.name)
            service.add_vm(session, actor, mesh.id, vm.id)
        elif agent is not None:
            agents.revoke(session, actor, agent.id)
    if not strangers:
        return "", []
    wanted = EnrolmentTokenCreate(mesh_id=mesh.id, max_uses=len(strangers))
    return enrolment.create_token(session, actor, wanted)[1], sorted(strangers)


def _leave(session: Session, actor: Actor, mesh: Mesh, vm: Vm) -> None:
    if any(member.id == vm.id for member in service.mesh_state(session, mesh.id).members):
        service.remove_vm(session, actor, mesh.id, vm.id)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
