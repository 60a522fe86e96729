"""Words for an operator whose database cannot be reached, refuses the sign-in or ends the statement."""

import psycopg
from sqlalchemy.exc import DBAPIError

_ADVICE = (
    "What to do: check that PostgreSQL runs, and that SINEMORA_DATABASE_URL, SINEMORA_DATABASE_SYSTEM_URL and"
    " SINEMORA_DATABASE_OWNER_URL have its address and the passwords of its roles."
)


def refusal_of(error: BaseException) -> str | None:
    """Return the reason that PostgreSQL or its driver gave, None when the error is not of that kind.

    The advice follows when there was no connection: an error of the server in a statement has an SQLSTATE.
    """
    reason = error.orig if isinstance(error, DBAPIError) else error
    if not isinstance(reason, psycopg.OperationalError):
        return None
    said = f"sinemora: {str(reason).strip()}"
    return f"{said}\n{_ADVICE}" if reason.sqlstate is None else said
