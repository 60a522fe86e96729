"""What tests of sign-in share: a person with an authenticator app, mails, and steps of a browser."""

import base64
import time
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pytest
from httpx2 import Response

from sinemora.access.signin import totp
from sinemora.access.tenants.access import DEVICE_COOKIE, cookie_name
from sinemora.kit import outbox
from tests.access.signin.provider import Provider, running
from tests.api_clients import PASSWORD, Caller, Member, body_of
from tests.mail_server import MailServer
from tests.statements import execute

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@dataclass
class App:
    """An authenticator app with one secret."""

    secret: bytes

    def code(self) -> str:
        """Return the present code."""
        return totp.code_at(self.secret, int(time.time()) // totp.STEP_S)

    def unused(self) -> str:
        """Return the present code as one that was not used before."""
        execute("UPDATE totp_secrets SET last_step = NULL")
        return self.code()


def attempt(client: Caller, email: str, password: str = PASSWORD, **headers: str) -> Response:
    """Send e-mail address and password."""
    return client.post("/v1/auth/sign-in", json={"email": email, "password": password}, headers=headers)


def browser(client: Caller, answer: Response) -> Member:
    """Return the browser that received an answer with a session."""
    body = answer.json()
    return Member(
        client.http,
        headers={"X-CSRF-Token": body["csrf_token"], "User-Agent": FIREFOX},
        cookies=dict(answer.cookies),
        email=body["user"]["email"],
    )


def pending(client: Caller, email: str) -> Caller:
    """Return a browser that has sent the right password and has to send a second factor."""
    answer = attempt(client, email)
    assert answer.status_code == 202, answer.text
    return Caller(client.http, cookies=dict(answer.cookies))


def known_device(member: Member) -> dict[str, str]:
    """Return the cookie of a browser in which the member signed in."""
    name = cookie_name(DEVICE_COOKIE)
    return {"Cookie": f"{name}={member.cookies[name]}"}


def actions(owner: Caller, prefix: str = "") -> list[str]:
    """Return the actions in the audit log, newest first."""
    params: dict[str, Any] = {"action": prefix} if prefix else {}
    return [entry["action"] for entry in owner.get("/v1/audit-entries", params=params).json()["items"]]


def mails(mail_server: MailServer) -> list[EmailMessage]:
    """Deliver waiting mails and return all that arrived, oldest first."""
    outbox.deliver_due()
    return [message_from_bytes(raw, _class=EmailMessage, policy=policy.default) for _, raw in mail_server.got]


def add_app(member: Member) -> tuple[App, list[str]]:
    """Set up an authenticator app; return it with the recovery codes."""
    setup = member.created("/v1/account/totp", {})
    secret = setup["secret"]
    app = App(base64.b32decode(secret + "=" * (-len(secret) % 8)))
    return app, body_of(member.post("/v1/account/totp/confirm", json={"code": app.code()}))["recovery_codes"]


@pytest.fixture(scope="session")
def process() -> Iterator[Provider]:
    """One provider for all tests."""
    with running({}) as provider:
        yield provider


@pytest.fixture
def protected(owner: Member, secret_key: None) -> tuple[Member, App, list[str]]:
    """An owner with an authenticator app, and the recovery codes."""
    return owner, *add_app(owner)
