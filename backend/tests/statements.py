"""Statements on the rows of all tenants, each in a transaction."""

from typing import Any

from sqlalchemy import Executable, text

from sinemora.kit.db import system_session


def execute(statement: str | Executable, values: dict[str, Any] | None = None) -> None:
    """Run a statement."""
    with system_session() as session:
        session.execute(text(statement) if isinstance(statement, str) else statement, values)


def scalar(statement: str, values: dict[str, Any] | None = None) -> Any:
    """Return the first value of the first row; None without one."""
    with system_session() as session:
        return session.scalar(text(statement), values)


def rows(statement: str, values: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
    """Return the rows."""
    with system_session() as session:
        return [tuple(row) for row in session.execute(text(statement), values)]
