"""Meshes that members, invitations and API keys are limited to: whom a limit binds, and its names for people."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Session

from sinemora.access.tenants.models import Membership, Role
from sinemora.access.tenants.schemas import VisibleMesh
from sinemora.kit.errors import NotFound, ProductError
from sinemora.kit.mesh_limit import MeshLimit


def of_member(member: Membership) -> Sequence[UUID] | None:
    """Return the meshes that a member is limited to; None for all. Who manages members is not limited."""
    return None if Role(member.role).rank >= Role.admin.rank else member.mesh_ids


def limit(session: Session, tenant_id: UUID, *lists: Sequence[UUID] | None) -> MeshLimit | None:
    """Return the limit to the meshes that are in each list, of those that exist; None without any list."""
    given = [frozenset(ids) for ids in lists if ids is not None]
    if not given:
        return None
    rows = session.execute(
        text("SELECT id, key FROM meshes WHERE tenant_id = :tenant_id AND id = ANY(:ids)"),
        {"tenant_id": tenant_id, "ids": sorted(frozenset.intersection(*given))},
    ).all()
    return MeshLimit(frozenset(id for id, _ in rows), frozenset(key for _, key in rows))


def checked(session: Session, mesh_ids: Iterable[UUID] | None, role: Role) -> list[UUID] | None:
    """Return a new limit as it is stored. ProductError `mesh_unknown` (404), `role_sees_all_meshes` (409)."""
    if mesh_ids is None:
        return None
    if role.rank >= Role.admin.rank:
        raise ProductError(
            "role_sees_all_meshes",
            409,
            f"Role sees all meshes: an {role} manages the whole tenant. Leave out mesh_ids, or choose the role viewer"
            " or editor.",
            errors=[{"pointer": "#/mesh_ids", "message": f"must be null for an {role}"}],
        )
    wanted = sorted(set(mesh_ids))
    if not set(wanted) <= Names.read(session).by_id.keys():
        raise NotFound("mesh")
    return wanted


def names_of(session: Session, mesh_ids: Sequence[UUID] | None) -> list[str] | None:
    """Return the names of a limit's meshes for the audit log; None for all meshes."""
    named = Names.read(session).of(mesh_ids)
    return None if named is None else [mesh.name for mesh in named]


@dataclass(frozen=True)
class Names:
    """Names of the meshes that the caller sees."""

    by_id: dict[UUID, str]

    @classmethod
    def read(cls, session: Session) -> "Names":
        """Return the names of the meshes that a session sees."""
        rows = session.execute(
            text("SELECT id, name FROM meshes WHERE tenant_id = :id ORDER BY name, id"),
            {"id": session.info["tenant_id"]},
        )
        return cls({id: name for id, name in rows})

    def of(self, mesh_ids: Sequence[UUID] | None) -> list[VisibleMesh] | None:
        """Return a limit by name, of the meshes that still exist and that the caller sees; None for all meshes."""
        if mesh_ids is None:
            return None
        wanted = set(mesh_ids)
        return [VisibleMesh(id=id, name=name) for id, name in self.by_id.items() if id in wanted]
