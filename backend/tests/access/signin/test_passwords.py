"""A password is changed with the present one and reset by a link; other browsers are then signed out."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from httpx2 import Response

from sinemora.access.signin import passwords
from sinemora.access.signin.operator import reset_link
from sinemora.access.signin.tasks import sweep
from tests.access.signin.conftest import actions, attempt, browser, known_device, mails
from tests.api_clients import PASSWORD, Caller, Member, SetTo, code_of
from tests.mail_server import MailServer
from tests.statements import execute, scalar

NEW = "seven orbit lamp crane"


def change(member: Member, new: str = NEW, current: str = PASSWORD) -> Response:
    return member.put("/v1/account/password", json={"current_password": current, "new_password": new})


def link_of(mail_text: str) -> str:
    link = next(line for line in mail_text.splitlines() if "/reset-password#" in line)
    return link.partition("#")[2].strip()


def redeem(client: Caller, token: str, password: str = NEW) -> Response:
    return client.post("/v1/auth/password-resets/redeem", json={"token": token, "password": password})


def test_a_changed_password_ends_other_sessions(client: Caller, owner: Member):
    other = browser(client, attempt(client, owner.email))
    assert change(owner).status_code == 204
    assert owner.get("/v1/account").status_code == 200
    assert other.get("/v1/account").status_code == 401
    assert attempt(client, owner.email).status_code == 401
    assert attempt(client, owner.email, NEW).status_code == 200
    assert "password.changed" in actions(owner)


def test_the_present_password_is_asked_for(client: Caller, owner: Member):
    answer = change(owner, current="not the present one")
    assert (answer.status_code, answer.json()["code"]) == (403, "password_wrong")
    assert answer.json()["errors"][0]["pointer"] == "#/current_password"
    assert attempt(client, owner.email).status_code == 200
    assert "password.refused" in actions(owner)


def test_guessing_the_present_password_is_limited(owner: Member, set_to: SetTo):
    set_to(sign_in_attempts="2")
    statuses = [change(owner, current=f"guess number {n}").status_code for n in range(4)]
    assert statuses == [403, 403, 429, 429]


@pytest.mark.parametrize(
    ("new", "status", "code"),
    [
        ("short", 422, "password_weak"),
        ("aaaaaaaaaaaaaaa", 422, "password_weak"),
        ("Password123!", 422, "password_weak"),
        ("{email}", 422, "password_weak"),
        (PASSWORD, 409, "password_unchanged"),
    ],
)
def test_weak_passwords_are_refused_at_their_field(owner: Member, new: str, status: int, code: str):
    answer = change(owner, new.format(email=owner.email))
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    if code == "password_weak":
        assert answer.json()["errors"][0]["pointer"] == "#/new_password"


def test_spaces_belong_to_a_password(client: Caller, owner: Member):
    assert change(owner, f" {NEW} ").status_code == 204
    assert attempt(client, owner.email, NEW).status_code == 401
    assert attempt(client, owner.email, f" {NEW} ").status_code == 200


def test_an_owner_is_not_created_with_a_weak_password(servers, set_to, run):
    set_to(owner_password="aaaaaaaaaaaa")
    assert "Easy to guess" in run("owner", "create", "--tenant", "Weak", "--email", "weak@sinemora.example", code=1)


def test_a_link_sets_a_new_password_once(client: Caller, owner: Member, mailbox: MailServer):
    assert client.post("/v1/auth/password-resets", json={"email": owner.email.upper()}).status_code == 204
    passwords.send_reset(owner.email)
    letter = mails(mailbox)[-1]
    assert letter["To"] == owner.email
    token = link_of(letter.get_content())
    assert code_of(redeem(client, token, "aaaaaaaaaa")) == (422, "password_weak")  # and the link stays valid
    assert redeem(client, token).status_code == 204
    assert code_of(redeem(client, token)) == (409, "reset_link_invalid")
    assert owner.get("/v1/account").status_code == 401
    fresh = browser(client, attempt(client, owner.email, NEW))
    assert "password.reset" in actions(fresh)
    assert any("password was changed" in mail["Subject"] for mail in mails(mailbox))


def test_a_link_ends_after_30_minutes(client: Caller, owner: Member, mailbox: MailServer):
    passwords.send_reset(owner.email)
    token = link_of(mails(mailbox)[-1].get_content())
    execute("UPDATE one_time_tokens SET expires_at = expires_at - interval '30 min'")
    assert redeem(client, token).json()["code"] == "reset_link_invalid"


def test_parallel_requests_redeem_a_link_once(client: Caller, owner: Member, mailbox: MailServer):
    token = reset_link(owner.email).partition("#")[2]
    with ThreadPoolExecutor(4) as pool:
        statuses = [answer.status_code for answer in pool.map(lambda n: redeem(client, token, f"{NEW} {n}"), range(4))]
    assert sorted(statuses) == [204, 409, 409, 409]


def test_a_person_gets_at_most_three_links_an_hour(owner: Member, mailbox: MailServer):
    before = len(mails(mailbox))
    for _ in range(5):
        passwords.send_reset(owner.email)
    assert len(mails(mailbox)) - before == 3


def test_nothing_tells_whether_an_address_is_known(
    client: Caller, owner: Member, mailbox: MailServer, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patched:  # a worker looks the address up, so no time tells
        patched.setattr(passwords.tenant_queries, "user_by_email", lambda *_: pytest.fail("looked up"))
        emails = (owner.email, "nobody@noc.example")
        answers = [client.post("/v1/auth/password-resets", json={"email": email}) for email in emails]
    assert [(answer.status_code, answer.content) for answer in answers] == [(204, b"")] * 2
    passwords.send_reset("nobody@noc.example")
    assert "nobody@noc.example" not in [mail["To"] for mail in mails(mailbox)]


def test_without_a_mail_server_an_operator_creates_the_link(client: Caller, owner: Member, run):
    token = link_of(run("owner", "reset-link", owner.email))
    assert redeem(client, token).status_code == 204
    assert attempt(client, owner.email, NEW).status_code == 200
    assert "no user" in run("owner", "reset-link", "nobody@noc.example", code=1)


def test_requests_for_links_are_limited(client: Caller, owner: Member, set_to: SetTo):
    set_to(sign_in_attempts="1")
    people = [{"email": f"p{n}@noc.example"} for n in range(11)]
    statuses = [client.post("/v1/auth/password-resets", json=person).status_code for person in people]
    assert statuses == [204] * 10 + [429]


def test_only_digests_of_links_are_stored_and_old_ones_are_swept(owner: Member):
    token = reset_link(owner.email).partition("#")[2]
    assert token not in scalar("SELECT string_agg(t::text, '') FROM one_time_tokens t")
    execute("UPDATE one_time_tokens SET expires_at = now() - interval '2 h'")
    sweep()
    assert scalar("SELECT count(*) FROM one_time_tokens") == 0


def test_a_new_browser_is_noticed_by_mail_and_a_known_one_is_not(client: Caller, owner: Member, mailbox: MailServer):
    before = len(mails(mailbox))
    attempt(client, owner.email, **known_device(owner))
    assert len(mails(mailbox)) == before
    attempt(client, owner.email)
    assert len(mails(mailbox)) == before  # a new account: its owner knows who signs in
    execute("UPDATE users SET created_at = now() - interval '2 h'")
    attempt(client, owner.email, **{"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0"})
    letter = mails(mailbox)[-1]
    assert (letter["To"], letter["Subject"]) == (owner.email, "New sign-in to Sinemora")
    assert "Firefox on Linux" in letter.get_content()
