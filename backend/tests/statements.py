"""Statements on the rows of all tenants, each in a transaction."""

from typing import Any
from uuid import UUID

from sqlalchemy import Executable, text

from sinemora.kit.db import system_session, tenant_session


def execute(statement: str | Executable, values: dict[str, Any] | None = None) -> None:
    """Run a statement."""
    with system_session() as session:
        session.execute(_whole(statement), values)


def scalar(statement: str | Executable, values: dict[str, Any] | None = None) -> Any:
    """Return the first value of the first row; None without one."""
    with system_session() as session:
        return session.scalar(_whole(statement), values)


def rows(statement: str | Executable, values: dict[str, Any] | None = None, tenant: UUID | None = None) -> list[Any]:
    """Return all rows, or those that a tenant sees."""
    with tenant_session(tenant) if tenant else system_session() as session:
        return list(session.execute(_whole(statement), values))


def _whole(statement: str | Executable) -> Executable:
    return text(statement) if isinstance(statement, str) else statement
