"""Sign-in with a second factor: codes of an app, recovery codes, limits, confirmation, the rule of a tenant."""

from httpx2 import Response
from sqlalchemy import text

from sinemora.access.tenants.access import DEVICE_COOKIE, SESSION_COOKIE, cookie_name
from sinemora.kit.db import engine
from tests.access.signin.conftest import App, actions, add_app, attempt, browser, known_device, mails, pending
from tests.api_clients import PASSWORD, Caller, Member, SetTo, code_of
from tests.mail_server import MailServer
from tests.statements import execute, scalar

Protected = tuple[Member, App, list[str]]


def send(caller: Caller, code: str) -> Response:
    return caller.post("/v1/auth/second-factor", json={"code": code})


def test_the_password_alone_opens_nothing(client: Caller, protected: Protected):
    owner, app, _ = protected
    answer = attempt(client, owner.email)
    assert answer.status_code == 202
    assert answer.json() == {"factors": ["totp", "recovery_code"]}
    assert cookie_name(SESSION_COOKIE) not in answer.cookies
    step = Caller(client.http, cookies=dict(answer.cookies))
    assert step.get("/v1/meshes").status_code == 401
    code = app.unused()
    opened = send(step, f"{code[:3]} {code[3:]}")
    assert opened.status_code == 200
    inside = browser(client, opened)
    assert inside.get("/v1/meshes").status_code == 200
    assert inside.get("/v1/account/sessions").json()["items"][0]["second_factor"]


def test_a_code_opens_one_session(client: Caller, protected: Protected):
    owner, app, _ = protected
    step, code = pending(client, owner.email), app.unused()
    assert send(step, code).status_code == 200
    assert code_of(send(step, code)) == (401, "sign_in_expired")
    assert code_of(send(pending(client, owner.email), code)) == (401, "second_factor_wrong")


def test_five_wrong_codes_end_the_sign_in(client: Caller, protected: Protected):
    owner, app, _ = protected
    step = pending(client, owner.email)
    codes = [send(step, "000000").json()["code"] for _ in range(5)]
    assert codes == ["second_factor_wrong"] * 5
    assert send(step, app.unused()).json()["code"] == "sign_in_expired"
    assert actions(owner).count("second_factor.refused") == 5


def test_guessing_codes_is_limited_and_known_browsers_are_not_locked_out(
    client: Caller, protected: Protected, set_to: SetTo
):
    owner, app, _ = protected
    set_to(sign_in_attempts="3")
    step = pending(client, owner.email)
    assert [send(step, "000000").status_code for _ in range(4)] == [401, 401, 401, 429]
    assert send(pending(client, owner.email), app.unused()).status_code == 429
    assert "session.locked" in actions(owner)
    answer = attempt(client, owner.email, **known_device(owner))
    device = cookie_name(DEVICE_COOKIE)
    own = Caller(client.http, cookies={**dict(answer.cookies), device: owner.cookies[device]})
    assert send(own, app.unused()).status_code == 200


def test_strangers_without_the_password_cannot_use_up_second_factors(
    client: Caller, protected: Protected, set_to: SetTo
):
    set_to(sign_in_attempts="3")
    assert send(client, "000000").json()["code"] == "sign_in_expired"
    owner, app, _ = protected
    for _ in range(6):
        attempt(client, owner.email, "wrong password")
    device = cookie_name(DEVICE_COOKIE)
    known = Caller(client.http, cookies={device: owner.cookies[device]})
    answer = attempt(known, owner.email)
    known.cookies |= dict(answer.cookies)
    assert send(known, app.unused()).status_code == 200


def test_a_sign_in_waits_five_minutes_for_its_second_factor(client: Caller, protected: Protected):
    owner, app, _ = protected
    step = pending(client, owner.email)
    execute("UPDATE one_time_tokens SET expires_at = expires_at - interval '5 min'")
    assert send(step, app.unused()).json()["code"] == "sign_in_expired"


def test_a_recovery_code_replaces_the_app_once(client: Caller, protected: Protected):
    owner, _, codes = protected
    assert len(codes) == 10
    assert send(pending(client, owner.email), codes[0].upper()).status_code == 200
    assert send(pending(client, owner.email), codes[0]).json()["code"] == "second_factor_wrong"
    account = owner.get("/v1/account").json()
    assert account["recovery_codes_left"] == 9
    assert "recovery_code.used" in actions(owner)


def test_new_recovery_codes_end_the_old_ones(client: Caller, protected: Protected):
    owner, _, codes = protected
    renewed = owner.created("/v1/account/recovery-codes", {})["recovery_codes"]
    assert not set(renewed) & set(codes)
    assert send(pending(client, owner.email), codes[0]).status_code == 401
    assert send(pending(client, owner.email), renewed[0]).status_code == 200


def test_neither_secrets_nor_recovery_codes_are_readable_in_the_database(protected: Protected):
    _, app, codes = protected
    rows = scalar("SELECT string_agg(t::text, '') FROM totp_secrets t")
    rows += scalar("SELECT string_agg(r::text, '') FROM recovery_codes r")
    assert app.secret.hex() not in rows
    assert all(code not in rows and code.replace("-", "") not in rows for code in codes)


def test_the_role_of_requests_sees_no_second_factor(protected: Protected):
    owner = protected[0]
    with engine().begin() as connection:
        connection.execute(text("SELECT set_config('sinemora.tenant_id', :id, true)"), {"id": str(owner.tenant_id)})
        for table in ("totp_secrets", "recovery_codes", "passkeys", "one_time_tokens"):
            assert connection.scalar(text(f"SELECT count(*) FROM {table}")) == 0, table


def test_an_app_counts_once_a_code_confirmed_it(client: Caller, owner: Member, secret_key: None):
    setup = owner.created("/v1/account/totp", {})
    assert setup["uri"].startswith("otpauth://totp/Sinemora:")
    assert setup["qr_code"].startswith("<svg")
    assert attempt(client, owner.email).status_code == 200
    assert code_of(owner.post("/v1/account/totp/confirm", json={"code": "000000"})) == (409, "second_factor_wrong")
    _, codes = add_app(owner)  # a second secret replaces the first
    assert codes
    assert owner.post("/v1/account/totp", json={}).json()["code"] == "totp_exists"
    assert owner.get("/v1/account").json()["factors"] == ["totp", "recovery_code"]


def test_the_app_is_removed_with_its_recovery_codes(client: Caller, protected: Protected):
    owner, _, _ = protected
    assert owner.delete("/v1/account/totp").status_code == 204
    account = owner.get("/v1/account").json()
    assert (account["totp"], account["recovery_codes_left"], account["factors"]) == (None, 0, [])
    assert attempt(client, owner.email).status_code == 200
    assert owner.delete("/v1/account/totp").json()["code"] == "totp_unknown"
    assert owner.post("/v1/account/recovery-codes", json={}).json()["code"] == "no_second_factor"
    assert {"totp.created", "totp.deleted"} <= set(actions(owner))


def test_changes_of_second_factors_are_noticed_by_mail(owner: Member, secret_key: None, mailbox: MailServer):
    add_app(owner)
    owner.delete("/v1/account/totp")
    bodies = [mail.get_content() for mail in mails(mailbox) if mail["To"] == owner.email]
    assert any("An authenticator app was added" in body for body in bodies)
    assert any("The authenticator app was removed" in body for body in bodies)


def test_sensitive_changes_need_a_recent_proof(protected: Protected):
    owner, app, _ = protected
    execute("UPDATE sessions SET authenticated_at = now() - interval '11 min'")
    assert code_of(owner.post("/v1/account/recovery-codes", json={})) == (403, "confirmation_required")
    password = owner.post("/v1/account/confirmations", json={"password": PASSWORD})
    assert (password.status_code, password.json()["code"]) == (409, "second_factor_needed")
    assert code_of(owner.post("/v1/account/confirmations", json={"code": "000000"})) == (403, "confirmation_refused")
    assert owner.post("/v1/account/confirmations", json={"code": app.unused()}).status_code == 204
    assert owner.post("/v1/account/recovery-codes", json={}).status_code == 201


def test_a_tenant_requires_a_second_factor(client: Caller, protected: Protected, secret_key: None):
    owner = protected[0]
    assert owner.put("/v1/sign-in-policy", json={"second_factor_required": True}).status_code == 200
    assert owner.get("/v1/meshes").status_code == 200
    assert code_of(owner.delete("/v1/account/totp")) == (409, "last_second_factor")
    assert "sign_in_policy.updated" in actions(owner)
    for table in ("totp_secrets", "recovery_codes"):
        execute(f"DELETE FROM {table}")
    answer = attempt(client, owner.email)
    assert answer.json()["second_factor_due"]
    member = browser(client, answer)
    assert code_of(member.get("/v1/meshes")) == (403, "second_factor_due")
    assert member.get("/v1/auth/status").json()["session"]["second_factor_due"]
    assert member.get("/v1/account").json()["required_by"] == [f"Tenant {owner.email.partition('@')[0]}"]
    add_app(member)
    assert member.get("/v1/meshes").status_code == 200
    assert member.get("/v1/sign-in-policy").json()["second_factor_required"]


def test_who_has_no_second_factor_cannot_require_one(owner: Member):
    answer = owner.put("/v1/sign-in-policy", json={"second_factor_required": True})
    assert (answer.status_code, answer.json()["code"]) == (409, "second_factor_missing")


def test_a_new_password_keeps_the_second_factor(client: Caller, protected: Protected):
    owner, _, _ = protected
    body = {"current_password": PASSWORD, "new_password": "seven orbit lamp crane"}
    assert owner.put("/v1/account/password", json=body).status_code == 204
    assert attempt(client, owner.email, body["new_password"]).status_code == 202


def test_an_operator_helps_whoever_lost_all_factors(client: Caller, protected: Protected, run):
    owner = protected[0]
    token = run("owner", "reset-link", owner.email, "--without-second-factors").partition("#")[2].split()[0]
    body = {"token": token, "password": "seven orbit lamp crane"}
    assert client.post("/v1/auth/password-resets/redeem", json=body).status_code == 204
    answer = attempt(client, owner.email, body["password"])
    assert "second_factors.deleted" in actions(browser(client, answer))
