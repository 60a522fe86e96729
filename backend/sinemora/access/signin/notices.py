"""Notices by e-mail about an account. Without a mail server none are sent."""

from datetime import datetime, timedelta

import structlog
from sqlalchemy.orm import Session

from sinemora.access.tenants.models import User
from sinemora.kit import outbox
from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError
from sinemora.kit.mail import Mail

log = structlog.get_logger(__name__)

_VALID_FOR = timedelta(days=1)
RESET_VALID_FOR = timedelta(minutes=30)
_NOT_YOU = (
    "If this was not you: set a new password with “Forgotten password” on the sign-in page, which signs out all"
    " browsers, and inform an owner of your tenant."
)


def new_browser(session: Session, user: User, browser: str, at: datetime) -> None:
    """Notify a person of a sign-in from a browser without the device cookie of the account."""
    _post(session, user, "new_browser", "New sign-in to Sinemora", f"A browser signed in: {browser}, {_time(at)}.")


def password_changed(session: Session, user: User, browser: str, at: datetime) -> None:
    """Notify a person that their password is new."""
    text = f"Your password was changed: {browser}, {_time(at)}. Other browsers were signed out."
    _post(session, user, "password_changed", "Your Sinemora password was changed", text)


def factor_changed(session: Session, user: User, change: str, browser: str, at: datetime) -> None:
    """Notify a person of a changed second factor; `change` is a sentence without a full stop."""
    text = f"{change}: {browser}, {_time(at)}."
    _post(session, user, "factor_changed", "Your Sinemora sign-in was changed", text)


def record_missing(session: Session, user: User, domain: str, record: str, until: datetime) -> None:
    """Notify an owner that the record of a verified domain is gone."""
    text = (
        f"The TXT record of {domain} is gone: {record}. Until {_time(until)} the people of this domain still sign in at"
        " your identity provider."
    )
    _post(session, user, "record_missing", f"Set the DNS record of {domain} again", text, "")


def password_reset(session: Session, user: User, link: str) -> None:
    """Send the link with which a person sets a new password."""
    paragraphs = (
        "Somebody asked for a new password for this address. To set one, open this link within 30 minutes:",
        link,
        "If this was not you, ignore this mail: your password is unchanged.",
    )
    outbox.post(session, "password_reset", Mail(user.email, "Set a new Sinemora password", paragraphs), RESET_VALID_FOR)


def _post(session: Session, user: User, kind: str, subject: str, text: str, more: str = _NOT_YOU) -> None:
    try:
        outbox.post(session, kind, Mail(user.email, subject, (text, more) if more else (text,)), _VALID_FOR)
    except ProductError as error:
        # A sign-in must not depend on the mail server.
        if settings().smtp_url is not None:
            log.warning("notice not sent", kind=kind, code=error.code)


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
