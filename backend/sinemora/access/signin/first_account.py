"""The first account of an installation: who reads the log of the API creates it in the browser, by the code in it."""

import base64
import hmac
from functools import cache

import structlog
from sqlalchemy import select, text

from sinemora.access.signin import throttle
from sinemora.access.signin.schemas import FirstAccount
from sinemora.access.tenants.models import User
from sinemora.access.tenants.service import create_owner
from sinemora.kit.config import settings
from sinemora.kit.db import system_session
from sinemora.kit.errors import ProductError
from sinemora.kit.password_rules import refuse_weak
from sinemora.kit.security import equal

log = structlog.get_logger(__name__)

_LOCK = "first account"


def is_due() -> bool:
    """Return whether nobody has an account yet, and there is a secret key to derive the code from."""
    if not _key():
        return False
    with system_session() as session:
        return session.scalar(select(User.id).limit(1)) is None


def code() -> str:
    """Return the code, 80 bits: the same in all processes, until the secret key changes."""
    mac = hmac.digest(_key().encode(), b"sinemora first account", "sha256")
    return base64.b32encode(mac[:10]).decode().lower()


@cache
def announce() -> None:
    """Log where the first account is created: once in a process, since strangers may ask any number of times."""
    log.warning("no account yet: create the first one", url=f"{settings().public_url}/sign-in#code={code()}")


def create(body: FirstAccount, address: str) -> None:
    """Create the first account and its tenant.

    ProductError `first_account_not_due` (409), `code_wrong` (403), `password_weak` (422), `too_many_attempts` (429).
    """
    counted = throttle.begin(_LOCK, address)
    with system_session() as session:
        session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"), {"name": _LOCK})
        if not is_due():
            raise ProductError(
                "first_account_not_due",
                409,
                "First account not due: somebody has an account, or SINEMORA_SECRET_KEY is not set. Sign in.",
            )
        if not equal(body.code.strip().lower(), code()):
            raise ProductError(
                "code_wrong",
                403,
                "Code wrong: take it from the log of the API, where it says “no account yet”.",
                errors=[{"pointer": "#/code", "message": "is not the code in the log"}],
            )
        password = body.password.get_secret_value()
        refuse_weak(password, [body.email, body.tenant_name], "password")
        create_owner(body.tenant_name, body.email, password)
    throttle.forgive(counted)


def _key() -> str:
    key = settings().secret_key
    return key.get_secret_value().strip() if key else ""
