"""A tenant's own OpenID provider: proof of domains, who gets in by it and where to, what it ends, what it cannot do."""

import json
import socket
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any
from uuid import uuid4

import dns.rcode
import pytest

from sinemora.access.signin import domains, openid, passwords
from sinemora.access.signin.openid import OpenIdClient, OpenIdError
from sinemora.kit import special_networks
from tests.access.signin.conftest import actions, attempt, mails
from tests.access.signin.provider import REDIRECT, SECRET, Provider, running
from tests.access.signin.test_single_sign_on import callback, failure, inside, person, sign_in, start
from tests.api_clients import Caller, Member, SetTo, accept_too, body_of, code_of, join, key_of
from tests.api_clients import sign_in as by_password
from tests.dns_server import DnsServer, dns_server
from tests.http_server import Answer, answering, drips
from tests.mail_server import MailServer
from tests.statements import execute, scalar

__all__ = ["dns_server"]
DOMAIN = "sinemora.example"
PATH = "/v1/identity-provider"
LOOPBACK = special_networks.parse("127.0.0.0/8")


@pytest.fixture(autouse=True)
def free_domains(http: Any) -> None:
    """Domains that no tenant of another test has."""
    execute("DELETE FROM sign_in_domains")


@pytest.fixture
def allowed(secret_key: None, set_to: SetTo) -> None:
    """Settings of an operator who lets tenants have providers on this machine."""
    set_to(public_url="http://127.0.0.1:8420", receiver_networks="127.0.0.0/8")


@pytest.fixture
def provider(process: Provider, owner: Member, allowed: None, dns_server: DnsServer) -> Provider:
    """The provider, set by `owner` for people of a verified domain."""
    set_provider(owner, process)
    verify(owner, dns_server)
    return process


def body(provider: Provider, **fields: Any) -> dict[str, Any]:
    some = {"issuer": provider.issuer, "client_id": "sinemora", "client_secret": SECRET}
    return {**some, "scopes": "openid email profile groups", "roles": {"leads": "admin", "sre": "editor"}, **fields}


def set_provider(owner: Member, provider: Provider, **fields: Any) -> dict[str, Any]:
    return body_of(owner.put(PATH, json=body(provider, **fields)))


def verify(owner: Member, server: DnsServer, domain: str = DOMAIN) -> None:
    row = owner.created(f"{PATH}/domains", {"domain": domain})
    server.records[domain] = ["v=spf1 -all", row["record"]]
    body_of(owner.post(f"{PATH}/domains/{row['id']}/verify"))


def worker(**claims: Any) -> dict[str, Any]:
    return person(**{"email": f"{uuid4().hex[:8]}@{DOMAIN}", **claims})


def enter(client: Caller, provider: Provider, claims: dict[str, Any], login: str) -> Member:
    return inside(client, sign_in(client, provider, claims, login, domain=DOMAIN))


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (["sinemora-verification=of another"], "domain_record_missing"),
        (dns.rcode.NXDOMAIN, "domain_record_missing"),
        ([], "domain_record_missing"),
        (dns.rcode.SERVFAIL, "dns_failed"),
        (None, "dns_failed"),
    ],
)
def test_a_domain_without_its_record_is_not_verified(
    owner: Member, dns_server: DnsServer, monkeypatch: pytest.MonkeyPatch, found: Any, code: str
):
    if found is None:
        monkeypatch.setattr(domains, "_LOOK_UP_S", 0.5)
    row = owner.created(f"{PATH}/domains", {"domain": DOMAIN.upper() + "."})
    dns_server.records[DOMAIN] = found
    assert code_of(owner.post(f"{PATH}/domains/{row['id']}/verify")) == (409, code)
    assert owner.get("/v1/auth/provider", params={"domain": DOMAIN}).json()["of_domain"] is False


def test_a_domain_belongs_to_one_tenant(owner: Member, other_owner: Member, dns_server: DnsServer):
    verify(owner, dns_server)
    row = other_owner.created(f"{PATH}/domains", {"domain": DOMAIN})
    dns_server.records[DOMAIN] += [row["record"]]  # type: ignore[operator]
    refused = other_owner.post(f"{PATH}/domains/{row['id']}/verify")
    assert code_of(refused) == (409, "domain_taken")
    assert "Tenant" not in refused.json()["detail"]
    assert code_of(owner.post(f"{PATH}/domains", json={"domain": DOMAIN})) == (409, "domain_exists")
    for wrong in ("example", "10.0.0.1", "-a.example", "a b.example", "a@b.example"):
        assert owner.post(f"{PATH}/domains", json={"domain": wrong}).status_code == 422, wrong


def test_a_domain_ends_a_week_after_its_record(
    owner: Member, other_owner: Member, dns_server: DnsServer, mailbox: MailServer
):
    verify(owner, dns_server)
    record, now = dns_server.records[DOMAIN], datetime.now(UTC)

    def state(day: float, found: Any) -> tuple[bool, bool]:
        """Return whether the domain is verified and its record missing after a look on a day."""
        dns_server.records[DOMAIN] = found
        domains.check_due(now + timedelta(days=day))
        (row,) = owner.get(f"{PATH}/domains").json()["items"]
        return row["verified_at"] is not None, row["missing_since"] is not None

    assert state(1.1, []) == (True, True)
    assert "sinemora-verification=" in str(mails(mailbox)[0].get_content())
    assert state(3.2, record) == (True, False)
    assert state(5.3, []) == (True, True)
    assert state(13.4, dns.rcode.SERVFAIL) == (True, True)
    assert state(14.5, []) == (False, False)
    assert len(mails(mailbox)) == 2
    assert "sign_in_domain.ended" in actions(owner)
    verify(other_owner, dns_server)


def test_an_owner_sets_the_provider_and_nobody_reads_its_secret(
    owner: Member, client: Caller, process: Provider, allowed: None
):
    assert code_of(owner.get(PATH)) == (404, "identity_provider_unknown")
    first = set_provider(owner, process)
    assert SECRET not in json.dumps([first, owner.get(PATH).json(), owner.get("/v1/audit-entries").json()])
    assert first["redirect_uri"] == REDIRECT
    kept = body(process, scopes="openid")
    del kept["client_secret"]
    assert owner.put(PATH, json=kept, headers={"If-Match": '"1"'}).json()["version"] == 2
    assert code_of(owner.put(PATH, json=kept, headers={"If-Match": '"1"'})) == (412, "version_changed")
    assert code_of(owner.put(PATH, json=kept | {"client_id": "b"})) == (422, "secret_needed_again")
    for wrong in ({"roles": {"a": "owner"}}, {"scopes": "email"}, {"issuer": "ftp://x"}, {"roles": {}}):
        assert owner.put(PATH, json=kept | wrong).status_code == 422, wrong
    admin = join(owner, "admin")
    assert admin.get(PATH).status_code == 200
    for method, path in (("PUT", ""), ("DELETE", ""), ("POST", "/tests"), ("POST", "/domains")):
        assert code_of(admin.request(method, PATH + path, json=kept)) == (403, "not_allowed"), path
    assert owner.delete(PATH).status_code == 204
    assert [name for name in actions(owner) if name.startswith("identity_provider.")] == [
        "identity_provider.deleted",
        "identity_provider.updated",
        "identity_provider.created",
    ]


def metadata(issuer: str, **more: Any) -> dict[str, Any]:
    names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
    return {"issuer": issuer, **{name: f"{issuer}/{name}" for name in names}, **more}


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (lambda _: metadata("https://another.example"), "names itself 'https://another.example'"),
        (lambda own: metadata(own, code_challenge_methods_supported=["plain"]), "S256"),
        (lambda own: metadata(own, token_endpoint_auth_methods_supported=["none"]), "client_secret_basic"),
        (
            lambda own: metadata(own, jwks_uri="http://169.254.169.254/keys"),
            "must be an address that begins with https",
        ),
        (lambda own: metadata(own, authorization_endpoint="javascript:alert(1)"), "must be an address"),
        (lambda own: metadata(own, jwks_uri=own), "cannot be read"),
        (lambda own: {"issuer": own}, "has no authorization_endpoint"),
        (lambda _: b"<html>", "JSON"),
        (lambda _: b"[1]", "JSON"),
        (lambda _: b" " * (1 << 21), "JSON"),
        (lambda _: "moved", "answers 302"),
        (lambda _: "drips", "within 1 s"),
    ],
)
def test_a_test_says_in_words_what_is_wrong(
    owner: Member, allowed: None, monkeypatch: pytest.MonkeyPatch, document: Callable[[str], Any], words: str
):
    def answer(request: BaseHTTPRequestHandler, _: bytes) -> Answer | None:
        found = document(issuer)
        if found == "drips":
            return drips(request)
        if found == "moved":
            return 302, {"Location": "/elsewhere"}, b""
        return 200, {}, found if isinstance(found, bytes) else json.dumps(found).encode()

    if words == "within 1 s":
        monkeypatch.setattr(openid, "_LIMIT_S", 1.0)
    with answering(answer) as port:
        issuer = f"http://127.0.0.1:{port}"
        set_provider(owner, Provider(issuer))
        assert words in owner.post(f"{PATH}/tests").json()["error"]


def test_a_test_of_real_providers(owner: Member, process: Provider, allowed: None, set_to: SetTo):
    set_provider(owner, process)
    assert owner.post(f"{PATH}/tests").json() == {"error": None}
    set_provider(owner, process, client_secret="another")
    assert "client id or client secret" in owner.post(f"{PATH}/tests").json()["error"]
    set_provider(owner, Provider("http://127.0.0.1:1"))
    assert "cannot be reached" in owner.post(f"{PATH}/tests").json()["error"]
    set_to(receiver_networks="")
    assert "https://" in owner.post(f"{PATH}/tests").json()["error"]
    set_provider(owner, Provider("https://localhost"))
    assert "not on the public internet" in owner.post(f"{PATH}/tests").json()["error"]


def test_a_provider_that_hangs_holds_few_threads():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        issuer = f"http://127.0.0.1:{silent.getsockname()[1]}"
        hanging = OpenIdClient(issuer, "sinemora", "s", REDIRECT, "openid", LOOPBACK)
        refused: list[str] = []

        def ask() -> None:
            with pytest.raises(OpenIdError) as error:
                hanging._fetch(issuer)
            refused.append(str(error.value))

        threads = [threading.Thread(target=ask) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert refused[:6] == ["too many requests wait for the provider"] * 6
    ask()
    assert "did not answer" in refused[-1]  # remembered: now nothing listens there


def test_people_of_the_domain_get_in_by_the_provider(client: Caller, owner: Member, provider: Provider):
    assert client.get("/v1/auth/provider", params={"domain": DOMAIN}).json() == {"name": None, "of_domain": True}
    refused = client.get("/v1/auth/provider/start?domain=else.example", follow_redirects=False)
    assert failure(refused) == "provider_unknown"
    claims = worker(groups=["sre", "leads"], name="Ana Lima")
    del claims["email_verified"]  # as some providers have it
    member = enter(client, provider, claims, "ana")
    session = member.get("/v1/auth/session").json()
    assert (session["user"]["email"], session["role"]) == (claims["email"], "admin")
    assert session["tenant"]["id"] == str(owner.tenant_id)
    assert member.get("/v1/account").json()["name"] == "Ana Lima"
    claims |= {"email": f"renamed@{DOMAIN}", "groups": ["sre"]}
    again = enter(client, provider, claims, "ana").get("/v1/auth/session").json()
    assert (again["user"], again["role"]) == (session["user"], "editor")
    own = enter(client, provider, worker(email=owner.email, groups=[]), "the-owner")
    assert own.get("/v1/auth/session").json()["role"] == "owner"
    assert {"member.joined", "member.role_changed"} <= set(actions(owner))
    assert all(one["confirmed_at"] for one in owner.get("/v1/members").json()["items"])


def test_a_person_without_a_password_sets_one_by_mail_for_other_tenants(
    mailbox: MailServer, client: Caller, provider: Provider
):
    claims = worker()
    enter(client, provider, claims, "passwordless")
    passwords.send_reset(claims["email"])
    assert "/reset-password#" in str(mails(mailbox)[0].get_content())


@pytest.mark.parametrize("claims", [{"email": "ana@else.example"}, {"email_verified": False}, {"email": None}])
def test_a_provider_vouches_for_its_domains_alone(
    client: Caller, owner: Member, provider: Provider, claims: dict[str, Any]
):
    refused = sign_in(client, provider, worker() | claims, f"x-{uuid4()}", domain=DOMAIN)
    assert failure(refused) == "provider_email_unverified"
    owner.delete(f"{PATH}/domains/{owner.get(f'{PATH}/domains').json()['items'][0]['id']}")
    assert client.get("/v1/auth/provider", params={"domain": DOMAIN}).json()["of_domain"] is False


def test_the_owner_of_a_provider_gains_nothing_of_a_person_beyond_the_tenant(
    client: Caller, owner: Member, make_owner: Callable[[], Member], provider: Provider, set_to: SetTo
):
    """Threat: `owner` runs a provider and has it claim the address of `victim`, who owns another tenant.

    Then the provider's owner would read that tenant, or set a password or a passkey that opens it later.
    """
    set_to(tenant_creation="on")
    victim = make_owner()
    before = scalar("SELECT password_hash || name FROM users WHERE email = :email", {"email": victim.email})
    thief = enter(client, provider, worker(email=victim.email), "thief")
    assert thief.get("/v1/auth/session").json()["tenant"]["id"] == str(owner.tenant_id)
    assert not any("device" in name for name in thief.cookies)
    assert [one["id"] for one in thief.get("/v1/tenants").json()["items"]] == [str(owner.tenant_id)]
    assert [one["method"] for one in thief.get("/v1/account/sessions").json()["items"]] == ["identity_provider"]
    account = thief.get("/v1/account").json()
    assert (account["of_one_tenant"], account["password_changed_at"], account["factors"]) == (True, None, [])
    seen = victim.get("/v1/account/sessions").json()["items"]
    (theirs,) = [one["id"] for one in seen if one["is_current"]]
    assert theirs not in thief.get("/v1/account/sessions").text
    assert code_of(thief.delete(f"/v1/account/sessions/{theirs}")) == (404, "session_unknown")
    invited = make_owner().created("/v1/invitations", {"email": victim.email, "role": "admin", "delivery": "link"})
    for method, path, sent in (
        ("PATCH", "/v1/account", {"name": "Thief"}),
        ("PUT", "/v1/account/password", {"current_password": "x", "new_password": "correct horse stapler"}),
        ("POST", "/v1/account/confirmations", {"password": "a guess"}),
        ("POST", "/v1/account/totp", None),
        ("DELETE", "/v1/account/totp", None),
        ("POST", "/v1/account/passkey-options", None),
        ("POST", "/v1/account/passkeys", {"name": "p", "credential": {}}),
        ("DELETE", f"/v1/account/passkeys/{uuid4()}", None),
        ("POST", "/v1/account/recovery-codes", None),
        ("POST", f"/v1/tenants/{victim.tenant_id}/switch", None),
        ("POST", "/v1/tenants", {"name": f"New {uuid4()}"}),
        ("POST", "/v1/invitations/accept", {"token": invited["link"].partition("#token=")[2]}),
    ):
        assert code_of(thief.request(method, path, json=sent)) == (403, "session_of_one_tenant"), path
    assert thief.delete("/v1/account/sessions").status_code == 204
    assert victim.get("/v1/auth/session").status_code == 200
    assert not {"member.joined", "session.all_ended"} & set(actions(victim))
    after = scalar("SELECT password_hash || name FROM users WHERE email = :email", {"email": victim.email})
    assert after == before


def test_with_single_sign_on_required_members_get_in_by_the_provider_alone(
    client: Caller, owner: Member, make_owner: Callable[[], Member], provider: Provider
):
    def require(caller: Member, required: bool = True) -> Any:
        return caller.put("/v1/sign-in-policy", json={"single_sign_on_required": required})

    member, admin, elsewhere = join(owner, "editor"), join(owner, "admin"), make_owner()
    key = key_of(owner, "read")
    assert code_of(require(owner)) == (409, "identity_provider_untried")
    guest = enter(client, provider, worker(email=member.email), "member")
    assert code_of(require(admin)) == (403, "not_allowed")
    assert require(owner).json() == {"second_factor_required": False, "single_sign_on_required": True}
    assert code_of(member.get("/v1/meshes")) == (401, "sign_in_required")
    assert code_of(attempt(client, member.email)) == (403, "single_sign_on_required")
    assert guest.get("/v1/meshes").status_code == 200
    assert owner.get("/v1/meshes").status_code == by_password(client.http, owner.email).get("/v1/meshes").status_code
    assert key.get("/v1/meshes").status_code == 200
    assert code_of(owner.delete(PATH)) == (409, "identity_provider_required")
    # A person of another tenant accepts an invitation as before, and is not let in from there.
    accept_too(owner, elsewhere)
    assert code_of(elsewhere.post(f"/v1/tenants/{owner.tenant_id}/switch")) == (403, "single_sign_on_required")
    assert by_password(client.http, elsewhere.email).tenant_id == elsewhere.tenant_id
    assert require(owner, False).status_code == 200
    assert attempt(client, member.email).status_code == 200
    assert owner.delete(PATH).status_code == 204
    assert code_of(guest.get("/v1/meshes")) == (401, "sign_in_required")


def test_whom_the_provider_no_longer_knows_is_out(client: Caller, owner: Member, provider: Provider):
    claims = worker(groups=["leads"])
    member = enter(client, provider, claims, "leaver")
    key = key_of(member, "read")
    execute("UPDATE memberships SET confirmed_at = now() - interval '31 days' WHERE subject = 'leaver'")
    assert [caller.get("/v1/meshes").status_code for caller in (member, key)] == [401, 401]
    member = enter(client, provider, claims, "leaver")
    assert [caller.get("/v1/meshes").status_code for caller in (member, key)] == [200, 200]
    assert failure(sign_in(client, provider, claims | {"groups": []}, "leaver", domain=DOMAIN)) == "provider_no_role"
    assert [caller.get("/v1/meshes").status_code for caller in (member, key)] == [401, 401]
    assert claims["email"] not in owner.get("/v1/members").text
    assert "member.removed" in actions(owner)


def test_an_answer_goes_to_the_provider_that_was_asked(
    client: Caller, owner: Member, other_owner: Member, provider: Provider, dns_server: DnsServer
):
    """Mix-up (RFC 9207): a code is sent to the provider alone that the browser was sent to."""
    with running({"bo": person(email="bo@else.example")}) as other:
        set_provider(other_owner, other)
        verify(other_owner, dns_server, "else.example")
        provider.people({"ana": worker()})
        url, browser = start(client, domain=DOMAIN)
        answer = provider.sign_in(url, "ana")
        assert failure(callback(browser, answer | {"iss": other.issuer})) == "provider_failed"
        url, browser = start(client, domain=DOMAIN)
        foreign = other.sign_in(start(client, domain="else.example")[0], "bo")
        state = provider.sign_in(url, "ana")["state"]
        assert failure(callback(browser, {"code": foreign["code"], "state": state})) == "provider_failed"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_no_other_site_signs_a_browser_in_to_its_tenant(client: Caller, provider: Provider, site: str):
    """Threat: a page sends its visitor to a provider that answers at once, and they work in another tenant."""
    answer = client.get(
        "/v1/auth/provider/start", params={"domain": DOMAIN}, headers={"Sec-Fetch-Site": site}, follow_redirects=False
    )
    assert answer.headers["location"] == "/sign-in"


@pytest.mark.parametrize("change", ["replaced", "deleted", "tenant deleted"])
def test_a_change_in_the_middle_of_a_sign_in_ends_it(client: Caller, owner: Member, provider: Provider, change: str):
    provider.people({"ana": worker()})
    url, browser = start(client, domain=DOMAIN)
    answer = provider.sign_in(url, "ana")
    if change == "replaced":
        set_provider(owner, Provider("http://127.0.0.1:1"))
    elif change == "deleted":
        assert owner.delete(PATH).status_code == 204
    else:
        execute("DELETE FROM tenants WHERE id = :id", {"id": owner.tenant_id})
    assert failure(callback(browser, answer)) == "sign_in_expired"


def test_the_provider_of_the_installation_respects_a_tenant_that_has_its_own(
    client: Caller, owner: Member, provider: Provider, set_to: SetTo
):
    enter(client, provider, worker(), "first")
    execute("UPDATE tenants SET single_sign_on_required = true WHERE id = :id", {"id": owner.tenant_id})
    set_to(oidc_issuer=provider.issuer, oidc_client_id="sinemora", oidc_client_secret=SECRET)
    set_to(oidc_tenant=f"Tenant {owner.email.partition('@')[0]}", oidc_roles="*=admin")
    assert failure(sign_in(client, provider, person(), "outsider")) == "single_sign_on_required"
