"""SQL access, set by the operator: roles that read the minutes of one tenant, and the paths with stored minutes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from sqlalchemy import NullPool, cast, create_engine, func, or_, select, text
from sqlalchemy import String as Text
from sqlalchemy.engine import make_url
from sqlalchemy.orm import Session, aliased

from sinemora import grants
from sinemora.access.tenants.models import AuditEntry, Tenant
from sinemora.fleet.inventory.models import Vm
from sinemora.kit.config import settings
from sinemora.kit.db import SessionMaker
from sinemora.measurements.store.sql_models import SqlLogin, SqlPath

_ROLE = text(
    "SELECT rolcanlogin, rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication,"
    " ARRAY(SELECT roleid::regrole::text FROM pg_auth_members WHERE member = r.oid ORDER BY 1)"
    " FROM pg_roles r WHERE rolname = :role"
)


class SqlLoginError(Exception):
    """Unknown tenant, role, VM or path, or a role that could read more than the views."""


def grant(tenant_name: str, role: str) -> dict[str, Any]:
    """Let a role read the minutes of a tenant. Again changes nothing. Return the login. Raises SqlLoginError."""
    with _owner_session() as session:
        tenant = _tenant(session, tenant_name)
        _check(session, role)
        login = session.get(SqlLogin, role)
        if login is not None and login.tenant_id != tenant.id:
            raise SqlLoginError(f"{role} reads another tenant. Revoke that first: sinemora sql-logins revoke {role}")
        if login is None:
            _check_room(session, SqlLogin, tenant, "SQL logins, the most there are. Revoke one first")
            login = SqlLogin(role=role, tenant_id=tenant.id)
            session.add(login)
            session.flush()
            _record(session, tenant.id, "sql_login.granted", role)
        grants.of_login(session.connection(), role)
        session.refresh(login)
        return {"role": role, "tenant": tenant.name, "created_at": login.created_at}


def revoke(role: str) -> dict[str, Any]:
    """Take the views from a role; what it reads now is its last statement. Raises SqlLoginError."""
    with _owner_session() as session:
        login = session.get(SqlLogin, role)
        if login is None:
            raise SqlLoginError(f"unknown SQL login: {role}. Logins: {', '.join(_roles(session)) or 'none'}")
        tenant = session.get_one(Tenant, login.tenant_id)
        session.delete(login)
        session.flush()
        if session.execute(_ROLE, {"role": role}).first() is not None:
            grants.of_login(session.connection(), role, revoked=True)
        _record(session, tenant.id, "sql_login.revoked", role)
        return {"role": role, "tenant": tenant.name}


def logins() -> list[dict[str, Any]]:
    """Return every SQL login, whether its role is on this server, and since when it may read."""
    with _owner_session() as session:
        known = set(session.scalars(text("SELECT rolname FROM pg_roles")))
        rows = session.execute(
            select(SqlLogin.role, Tenant.name, SqlLogin.created_at)
            .join(Tenant, Tenant.id == SqlLogin.tenant_id)
            .order_by(Tenant.name, SqlLogin.role)
        )
        return [
            {"role": role, "tenant": tenant, "role_exists": role in known, "created_at": created_at}
            for role, tenant, created_at in rows
        ]


def choose_path(tenant_name: str, names: tuple[str, str]) -> dict[str, str]:
    """Keep the minutes of the path between two VMs from now on. Again changes nothing. Return it. SqlLoginError."""
    with _owner_session() as session:
        tenant = _tenant(session, tenant_name)
        ends = _ends(session, tenant, names)
        if session.get(SqlPath, (tenant.id, *ends)) is None:
            _check_room(session, SqlPath, tenant, "paths for SQL, the most there are. Remove one first")
            session.add(SqlPath(tenant_id=tenant.id, vm_id=ends[0], peer_id=ends[1]))
            _record(session, tenant.id, "sql_path.chosen", " - ".join(names))
        return _named(tenant.name, names)


def remove_path(tenant_name: str, names: tuple[str, str]) -> dict[str, str]:
    """Keep no further minutes of a path; those that are there stay for their time. Return it. SqlLoginError."""
    with _owner_session() as session:
        tenant = _tenant(session, tenant_name)
        path = session.get(SqlPath, (tenant.id, *_ends(session, tenant, names)))
        if path is None:
            raise SqlLoginError(f"{' - '.join(names)} is no path for SQL. See: sinemora sql-paths list")
        session.delete(path)
        _record(session, tenant.id, "sql_path.removed", " - ".join(names))
        return _named(tenant.name, names)


def paths() -> list[dict[str, str]]:
    """Return the chosen paths of all tenants, by name."""
    vm, peer = aliased(Vm), aliased(Vm)
    named = (
        select(Tenant.name, vm.name, peer.name)
        .join(SqlPath, SqlPath.tenant_id == Tenant.id)
        .join(vm, vm.id == SqlPath.vm_id)
        .join(peer, peer.id == SqlPath.peer_id)
    )
    with _owner_session() as session:
        return [_named(tenant, ends) for tenant, *ends in sorted(session.execute(named).all())]


def _named(tenant: str, names: Sequence[str]) -> dict[str, str]:
    """Return a path by name, its VMs in the order of theirs."""
    return {"tenant": tenant, "vm": min(names), "peer": max(names)}


def _ends(session: Session, tenant: Tenant, names: tuple[str, str]) -> list[UUID]:
    """Return the ids of two VMs of a tenant, the smaller one first. SqlLoginError."""
    named = select(Vm.name, Vm.id).where(Vm.tenant_id == tenant.id, Vm.name.in_(names))
    found = dict(session.execute(named).all())
    if missing := sorted(set(names) - found.keys()):
        raise SqlLoginError(f"{tenant.name} has no VM {' and no VM '.join(missing)}")
    if len(found) == 1:
        raise SqlLoginError("a path is between two VMs")
    return sorted(found.values())


def _tenant(session: Session, name: str) -> Tenant:
    """Return a tenant by name or id. SqlLoginError."""
    found = session.scalars(select(Tenant).where(or_(Tenant.name == name, cast(Tenant.id, Text) == name))).first()
    if found is None:
        raise SqlLoginError(f"unknown tenant: {name}")
    return found


@contextmanager
def _owner_session() -> Iterator[Session]:
    """Open a transaction that sees every tenant as the owner of the schema, who alone may grant its views."""
    engine = create_engine(settings().database_owner_url, poolclass=NullPool, hide_parameters=True)
    info = {"tenant_id": None, "tenant_key": None, "mesh_limit": None}
    with SessionMaker(bind=engine, info=info) as session, session.begin():
        yield session


def _roles(session: Session) -> list[str]:
    return list(session.scalars(select(SqlLogin.role).order_by(SqlLogin.role)))


def _check(session: Session, role: str) -> None:
    """Refuse a role that is missing, or that may read more than the views. SqlLoginError."""
    row = session.execute(_ROLE, {"role": role}).first()
    if row is None:
        raise SqlLoginError(
            f"no role {role} in the database. Create it as a superuser:"
            f" CREATE ROLE {role} LOGIN PASSWORD '…' CONNECTION LIMIT 5"
        )
    can_login, is_privileged, memberships = row
    urls = settings().database_url, settings().database_owner_url, settings().database_system_url
    if role in {make_url(url).username for url in urls}:
        raise SqlLoginError(f"{role} is a role of the product, which sees every tenant: use a role for this alone")
    if is_privileged:
        raise SqlLoginError(
            f"{role} may read or become more than its views. Use a plain role for this alone:"
            f" CREATE ROLE {role}_sql LOGIN PASSWORD '…' CONNECTION LIMIT 5"
        )
    if memberships:
        raise SqlLoginError(
            f"{role} is a member of {', '.join(memberships)} and reads what that role reads."
            f" Use a role without memberships: REVOKE {memberships[0]} FROM {role}"
        )
    if not can_login:
        raise SqlLoginError(f"{role} cannot log in: ALTER ROLE {role} LOGIN PASSWORD '…'")


def _check_room(session: Session, model: type[SqlLogin | SqlPath], tenant: Tenant, of_what: str) -> None:
    most = model.rows_max or 0
    stored = session.scalar(select(func.count()).where(model.tenant_id == tenant.id)) or 0
    if stored >= most:
        raise SqlLoginError(f"{tenant.name} has {stored} {of_what}")


def _record(session: Session, tenant_id: UUID, action: str, subject: str) -> None:
    """Record the change in the audit log of the tenant."""
    session.add(
        AuditEntry(
            tenant_id=tenant_id,
            actor_kind="system",
            actor_id=None,
            actor_name="Operator",
            action=action,
            subject_id=tenant_id,
            subject_name=subject,
            detail={},
            address=None,
        )
    )
