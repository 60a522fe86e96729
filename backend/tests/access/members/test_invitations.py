"""Invitations by mail and by link: one person, one use, until they expire or are revoked."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any
from uuid import uuid4

import pytest

from sinemora.kit import outbox
from tests.api_clients import PASSWORD, Caller, Member, code_of, join, sign_in
from tests.mail_server import MailServer
from tests.statements import execute, scalar

ADA = "ada@example.com"


def invite(owner: Member, email: str = ADA, role: str = "editor", delivery: str = "link") -> dict[str, Any]:
    return owner.created("/v1/invitations", {"email": email, "role": role, "delivery": delivery})


def token_of(link: str) -> str:
    return link.partition("/invitation#token=")[2]


def accept(caller: Caller, token: str, **fields: str):
    body = {"token": token, "name": "Ada Byron", "password": PASSWORD} | fields
    return caller.post("/v1/invitations/accept", json=body)


def fresh() -> str:
    return f"{uuid4().hex[:8]}@example.com"


def mailed(mail_server: MailServer, email: str) -> list[str]:
    """Return the texts of the mails to a person so far; the queue may have mails of other tests."""
    outbox.deliver_due()
    messages = [raw for to, raw in mail_server.got if to == [email]]
    return [message_from_bytes(raw, _class=EmailMessage, policy=policy.default).get_content() for raw in messages]


def token_in(body: str) -> str:
    """Return the token of an invitation."""
    (token,) = re.findall(r"/invitation#token=(\S+)", body)
    return str(token)


def test_a_new_person_is_invited_by_mail(owner: Member, client: Caller, mailbox: MailServer):
    email = fresh()
    made = invite(owner, email, delivery="email")
    assert (made["link"], made["mail_state"], made["state"]) == (None, "waiting", "pending")
    (body,) = mailed(mailbox, email)
    assert f"{datetime.fromisoformat(made['expires_at']).astimezone(UTC):%Y-%m-%d %H:%M} UTC" in body
    token = token_in(body)
    assert owner.get("/v1/invitations").json()["items"][0]["mail_state"] == "sent"
    preview = client.post("/v1/invitations/lookup", json={"token": token}).json()
    assert (preview["email"], preview["role"], preview["has_account"]) == (email, "editor", False)
    assert preview["invited_by"] == owner.email
    accepted = accept(client, token)
    assert (accepted.status_code, accepted.json()["email"]) == (200, email)
    member = sign_in(owner.http, email)
    assert member.tenant_id == owner.tenant_id
    listed = next(item for item in owner.get("/v1/members").json()["items"] if item["email"] == email)
    assert (listed["name"], listed["role"]) == ("Ada Byron", "editor")
    actions = [entry["action"] for entry in owner.get("/v1/audit-entries").json()["items"]]
    assert {"invitation.created", "invitation.accepted"} <= set(actions)


def test_an_undeliverable_mail_is_shown(owner: Member, mailbox: MailServer):
    email = fresh()
    mailbox.refusals[email] = "550 no such user"
    invite(owner, email, delivery="email")
    outbox.deliver_due()
    (item,) = owner.get("/v1/invitations").json()["items"]
    assert item["mail_state"] == "failed"
    assert "no such user" in item["mail_answer"]


def test_without_a_mail_server_a_link_still_works(owner: Member):
    assert code_of(owner.post("/v1/invitations", json={"email": ADA, "role": "viewer"})) == (409, "mail_unavailable")
    assert owner.get("/v1/invitations").json()["items"] == []
    assert token_of(invite(owner)["link"])


def test_a_link_works_once(owner: Member, client: Caller):
    token = token_of(invite(owner, fresh())["link"])
    assert accept(client, token).status_code == 200
    assert code_of(accept(client, token)) == (409, "invitation_used")


def test_two_at_once_accept_once(owner: Member, client: Caller):
    email = fresh()
    token = token_of(invite(owner, email)["link"])
    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(lambda _: accept(client, token).status_code, range(4)))
    assert statuses == [200, 409, 409, 409]
    assert [item["email"] for item in owner.get("/v1/members").json()["items"]].count(email) == 1


def test_one_address_is_invited_once_at_a_time(owner: Member):
    email = fresh()
    body = {"email": email.upper(), "role": "viewer", "delivery": "link"}
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: owner.post("/v1/invitations", json=body), range(4)))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"invitation_exists"}
    assert owner.get("/v1/invitations").json()["items"][0]["email"] == email


def test_a_revoked_link_ends(owner: Member, client: Caller):
    made = invite(owner)
    assert owner.delete(f"/v1/invitations/{made['id']}").status_code == 204
    for path in ("lookup", "accept"):
        body = {"token": token_of(made["link"])} | ({"name": "A", "password": PASSWORD} if path == "accept" else {})
        assert code_of(client.post(f"/v1/invitations/{path}", json=body)) == (409, "invitation_revoked")
    assert owner.delete(f"/v1/invitations/{made['id']}").json()["code"] == "invitation_ended"
    assert owner.post(f"/v1/invitations/{made['id']}/resend").json()["code"] == "invitation_ended"
    assert invite(owner)["state"] == "pending"


def expire(made: dict[str, Any]) -> None:
    execute("UPDATE invitations SET expires_at = now() - interval '1 s' WHERE id = :id", {"id": made["id"]})


def test_an_expired_link_ends_until_it_is_sent_again(owner: Member, client: Caller):
    made = invite(owner, fresh())
    expire(made)
    assert accept(client, token_of(made["link"])).json()["code"] == "invitation_expired"
    assert owner.get("/v1/invitations").json()["items"][0]["state"] == "expired"
    again = owner.post(f"/v1/invitations/{made['id']}/resend").json()
    assert again["id"] == made["id"]
    assert accept(client, token_of(made["link"])).json()["code"] == "invitation_unknown"
    assert accept(client, token_of(again["link"])).status_code == 200


def test_an_expired_invitation_gives_way(owner: Member):
    made = invite(owner)
    expire(made)
    assert invite(owner)["id"] != made["id"]


def test_a_mail_is_not_sent_twice_a_minute(owner: Member, mailbox: MailServer):
    email = fresh()
    made = invite(owner, email, delivery="email")
    assert code_of(owner.post(f"/v1/invitations/{made['id']}/resend")) == (429, "too_soon")
    execute("UPDATE invitations SET sent_at = sent_at - interval '2 min'")
    assert owner.post(f"/v1/invitations/{made['id']}/resend").status_code == 200
    first, second = map(token_in, mailed(mailbox, email))
    assert first != second


def test_an_existing_account_signs_in_to_accept(owner: Member, other_owner: Member, client: Caller):
    token = token_of(invite(owner, other_owner.email.upper(), "viewer")["link"])
    preview = client.post("/v1/invitations/lookup", json={"token": token}).json()
    assert (preview["has_account"], preview["email"]) == (True, other_owner.email)
    assert code_of(accept(client, token, password="another password")) == (409, "sign_in_to_accept")
    assert accept(owner, token).json()["code"] == "invitation_for_another"
    assert other_owner.post("/v1/invitations/accept", json={"token": token}).status_code == 200
    assert sign_in(owner.http, other_owner.email).tenant_id == owner.tenant_id  # the password is unchanged


def test_a_session_accepts_only_with_the_csrf_token(owner: Member, other_owner: Member):
    token = token_of(invite(owner, other_owner.email)["link"])
    del other_owner.headers["X-CSRF-Token"]
    assert other_owner.post("/v1/invitations/accept", json={"token": token}).json()["code"] == "csrf_token_invalid"


def test_a_member_is_not_invited(owner: Member):
    member = join(owner, "viewer")
    body = {"email": member.email.title(), "role": "editor", "delivery": "link"}
    assert owner.post("/v1/invitations", json=body).json()["code"] == "member_exists"


def test_a_removed_person_comes_back_with_a_new_account(owner: Member, client: Caller):
    member = join(owner, "viewer")
    owner.delete(f"/v1/members/{member.user_id}")
    token = token_of(invite(owner, member.email)["link"])
    assert client.post("/v1/invitations/lookup", json={"token": token}).json()["has_account"] is False
    assert accept(client, token, password="a new long password").status_code == 200
    back = sign_in(owner.http, member.email, "a new long password")
    assert back.user_id != member.user_id


@pytest.mark.parametrize("password", ["", "short"])
def test_a_bad_password_leaves_the_link_usable(owner: Member, client: Caller, password: str):
    token = token_of(invite(owner, fresh())["link"])
    fields = {"password": password} if password else {}
    body = {"token": token, "name": "Ada"} | fields
    assert code_of(client.post("/v1/invitations/accept", json=body)) == (422, "password_weak")
    assert accept(client, token).status_code == 200


@pytest.mark.parametrize("email", ["nobody", "a@b\nBcc: c@d.example", "a@b,c@d", ""])
def test_bad_addresses_are_refused(owner: Member, email: str):
    answer = owner.post("/v1/invitations", json={"email": email, "role": "viewer", "delivery": "link"})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/email")


def test_the_secret_is_stored_as_a_digest(owner: Member):
    made = invite(owner)
    row = scalar("SELECT row_to_json(i)::text FROM invitations i WHERE id = :id", {"id": made["id"]})
    token = token_of(made["link"])
    assert row is not None
    assert token not in row
    assert token.encode().hex() not in row
    assert "link" not in owner.get("/v1/invitations").json()["items"][0]
