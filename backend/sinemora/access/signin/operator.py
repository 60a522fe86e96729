"""Help of the operator for people who cannot sign in."""

from datetime import UTC, datetime

from sinemora.access.signin import account, passwords, sessions
from sinemora.access.tenants import queries
from sinemora.kit.db import system_session


def reset_link(email: str, *, without_second_factors: bool = False) -> str:
    """Return a link to a new password, for the operator to hand over; also remove second factors that are lost.

    LookupError for an unknown address.
    """
    with system_session() as session:
        user = queries.user_by_email(session, email.strip().lower())
        if user is None:
            raise LookupError(f"no user has the address {email}")
        if without_second_factors:
            account.drop_factors(session, user)
        sessions.record(session, user, "password.reset_link_created", None)
        return passwords.reset_link(session, user, datetime.now(UTC))
