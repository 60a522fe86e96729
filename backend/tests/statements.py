"""Statements and calls on the rows of all tenants, or of one, each in a transaction."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from sqlalchemy import Executable, text

from sinemora.kit.db import system_session, tenant_session


def execute(statement: str | Executable, values: dict[str, Any] | list[dict[str, Any]] | None = None) -> None:
    """Run a statement, with each of several values one after the other."""
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


def scalars(statement: str | Executable, values: dict[str, Any] | None = None, tenant: UUID | None = None) -> list[Any]:
    """Return the first values of all rows, or of those that a tenant sees."""
    return [row[0] for row in rows(statement, values, tenant)]


def call(function: Callable[..., Any], *arguments: Any, tenant: UUID | None = None) -> Any:
    """Call a function with a session, which sees all tenants or one, and its other arguments."""
    with tenant_session(tenant) if tenant else system_session() as session:
        return function(session, *arguments)


def _whole(statement: str | Executable) -> Executable:
    return text(statement) if isinstance(statement, str) else statement
