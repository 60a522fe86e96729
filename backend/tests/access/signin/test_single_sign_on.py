"""Sign-in through a real OpenID provider: code flow with PKCE, checks of the answer, groups, membership."""

import time
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit
from uuid import uuid4

import pytest
from httpx2 import Response
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from sinemora.access.signin import group_roles, openid, passwords
from sinemora.access.signin.identity_provider import CALLBACK
from sinemora.access.signin.openid import OpenIdClient, OpenIdError
from sinemora.access.tenants.models import Role
from tests.access.signin.conftest import actions, add_app, browser
from tests.access.signin.provider import REDIRECT, SECRET, Provider
from tests.api_clients import Caller, Member, SetTo
from tests.statements import scalar


@pytest.fixture
def provider(process: Provider, owner: Member, set_to: SetTo) -> Provider:
    """The provider in the settings, for the tenant of `owner`."""
    set_to(
        public_url="http://127.0.0.1:8420",
        oidc_issuer=process.issuer,
        oidc_client_id="sinemora",
        oidc_client_secret=SECRET,
        oidc_name="Northwind",
        oidc_tenant=f"Tenant {owner.email.partition('@')[0]}",
        oidc_roles="leads=admin sre=editor",
        oidc_scopes="openid email profile groups",
    )
    return process


def person(**claims: Any) -> dict[str, Any]:
    email = f"{uuid4().hex[:8]}@noc.example"
    return {"email": email, "email_verified": True, "groups": ["sre"], **claims}


def start(client: Caller, next_path: str = "/vms", **domain: str) -> tuple[str, Caller]:
    """Begin a sign-in; return the URL at the provider, and the browser with its cookie."""
    answer = client.get("/v1/auth/provider/start", params={"next": next_path, **domain}, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"], Caller(client.http, cookies=dict(answer.cookies))


def callback(caller: Caller, query: dict[str, str]) -> Response:
    return caller.get(CALLBACK, params=query, follow_redirects=False)


def failure(answer: Response) -> str:
    assert answer.status_code == 303, answer.text
    return parse_qs(urlsplit(answer.headers["location"]).query)["failed"][0]


def sign_in(client: Caller, provider: Provider, claims: dict[str, Any], login: str = "ana", **domain: str) -> Response:
    provider.people({login: claims})
    url, caller = start(client, **domain)
    return callback(caller, provider.sign_in(url, login))


def inside(client: Caller, answer: Response) -> Member:
    """Return the browser of a finished sign-in."""
    assert answer.headers["location"] == "/vms", answer.headers["location"]
    member = Caller(client.http, cookies=dict(answer.cookies))
    session = member.get("/v1/auth/session").json()
    return Member(
        client.http,
        headers={"X-CSRF-Token": session["csrf_token"]},
        cookies=member.cookies,
        email=session["user"]["email"],
    )


def test_the_sign_in_page_shows_the_provider(client: Caller, provider: Provider, set_to: SetTo):
    assert client.get("/v1/auth/provider").json() == {"name": "Northwind", "of_domain": False}
    set_to(oidc_issuer="")
    assert client.get("/v1/auth/provider").json()["name"] is None
    assert client.get("/v1/auth/provider/start").json()["code"] == "provider_unknown"


def test_a_person_becomes_a_member_whose_role_follows_the_groups_except_of_an_owner(
    client: Caller, owner: Member, provider: Provider
):
    claims = person(groups=["sre", "leads", "others"])
    member = inside(client, sign_in(client, provider, claims, "new"))
    session = member.get("/v1/auth/session").json()
    assert (session["user"]["email"], session["role"]) == (claims["email"], "admin")
    assert session["tenant"]["id"] == str(owner.tenant_id)
    listed = member.get("/v1/account/sessions").json()["items"][0]
    assert (listed["method"], listed["second_factor"]) == ("provider", False)
    assert member.get("/v1/account").json()["password_changed_at"] is None
    again = inside(client, sign_in(client, provider, person(), "new")).get("/v1/auth/session").json()
    assert (again["role"], again["user"]["id"]) == ("editor", session["user"]["id"])  # known by subject
    assert {"member.joined", "member.role_changed", "session.created"} <= set(actions(owner))
    claims = person(email=owner.email)
    own = inside(client, sign_in(client, provider, claims, "the-owner"))
    assert own.get("/v1/auth/session").json()["role"] == "owner"


def test_without_a_group_nobody_gets_in(client: Caller, owner: Member, provider: Provider):
    claims = person(groups=["others"])
    assert failure(sign_in(client, provider, claims)) == "provider_no_role"
    assert scalar("SELECT count(*) FROM users WHERE email = :email", claims) == 0
    claims = person()
    inside(client, sign_in(client, provider, claims, "leaver"))
    claims["groups"] = []
    assert failure(sign_in(client, provider, claims, "leaver")) == "provider_no_role"
    assert "session.refused" in actions(owner)


def test_an_unverified_address_takes_over_no_account(client: Caller, owner: Member, provider: Provider):
    for verified in (False, None, "true"):
        claims = person(email=owner.email, email_verified=verified)
        assert failure(sign_in(client, provider, claims, f"thief-{verified}")) == "provider_email_unverified"


def test_a_person_without_a_password_gets_no_link_to_a_new_one(
    client: Caller, provider: Provider, monkeypatch: pytest.MonkeyPatch
):
    claims = person()
    inside(client, sign_in(client, provider, claims, "passwordless"))
    monkeypatch.setattr(passwords.mail, "is_configured", lambda: True)
    passwords.send_reset(claims["email"])
    links = "SELECT count(*) FROM one_time_tokens t JOIN users u ON u.id = t.user_id WHERE purpose = 'password_reset'"
    assert scalar(f"{links} AND email = :email", claims) == 0


def test_a_person_with_a_second_factor_is_asked_for_it(client: Caller, secret_key: None, provider: Provider):
    claims = person()
    member = inside(client, sign_in(client, provider, claims, "careful"))
    app, _ = add_app(member)
    answer = sign_in(client, provider, claims, "careful")
    assert answer.headers["location"] == "/sign-in?factors=totp,recovery_code&next=%2Fvms"
    step = Caller(client.http, cookies=dict(answer.cookies))
    opened = step.post("/v1/auth/second-factor", json={"code": app.unused()})
    assert browser(client, opened).get("/v1/account/sessions").json()["items"][0]["second_factor"]


def test_factors_of_the_provider_count(client: Caller, secret_key: None, provider: Provider):
    claims = person(amr=["pwd", "mfa"])
    member = inside(client, sign_in(client, provider, claims, "strong"))
    assert member.get("/v1/account/sessions").json()["items"][0]["second_factor"]


def test_the_request_has_state_nonce_and_a_challenge(client: Caller, provider: Provider):
    first, _ = start(client)
    second, _ = start(client)
    one, other = (dict(parse_qsl(urlsplit(url).query)) for url in (first, second))
    assert (one["code_challenge_method"], one["response_type"], one["redirect_uri"]) == ("S256", "code", REDIRECT)
    for name in ("state", "nonce", "code_challenge"):
        assert len(one[name]) >= 43
        assert one[name] != other[name]


def test_the_answer_belongs_to_the_browser_that_asked(client: Caller, provider: Provider):
    provider.people({"ana": person()})
    url, _ = start(client)
    query = provider.sign_in(url, "ana")
    assert failure(callback(client, query)) == "sign_in_expired"  # a browser without the cookie
    _, other = start(client)
    assert failure(callback(other, query)) == "sign_in_expired"  # the cookie of another attempt


def test_an_answer_is_taken_once(client: Caller, provider: Provider):
    provider.people({"ana": person()})
    url, caller = start(client)
    query = provider.sign_in(url, "ana")
    assert callback(caller, query).headers["location"] == "/vms"
    assert failure(callback(caller, query)) == "sign_in_expired"


def test_the_provider_refuses_a_code_without_the_verifier(provider: Provider):
    """PKCE holds: a stolen code is worth nothing (RFC 7636, section 1)."""
    provider.people({"ana": person()})
    client = OpenIdClient(provider.issuer, "sinemora", SECRET, REDIRECT, "openid email")
    request = client.authorization()
    code = provider.sign_in(request.url, "ana")["code"]
    with pytest.raises(OpenIdError, match="400"):
        client.claims(code, request.nonce, "another verifier, as long as a verifier has to be")


def test_a_refusal_of_the_provider_is_reported(client: Caller, provider: Provider):
    _, caller = start(client)
    assert failure(callback(caller, {"error": "access_denied", "state": "x"})) == "provider_refused"


def test_rotated_keys_are_fetched(client: Caller, provider: Provider):
    inside(client, sign_in(client, provider, person(), "before"))
    provider.rotate()
    inside(client, sign_in(client, provider, person(), "after"))


def test_a_provider_away_is_an_answer(client: Caller, provider: Provider, set_to: SetTo):
    set_to(oidc_issuer="http://127.0.0.1:1")
    assert failure(client.get("/v1/auth/provider/start", follow_redirects=False)) == "provider_failed"


@pytest.mark.parametrize("next_path", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:1", ""])
def test_the_way_back_stays_here(client: Caller, provider: Provider, next_path: str):
    provider.people({"ana": person()})
    url, caller = start(client, next_path)
    assert callback(caller, provider.sign_in(url, "ana")).headers["location"] == "/"


@pytest.fixture
def forger(monkeypatch: pytest.MonkeyPatch) -> tuple[OpenIdClient, RSAKey]:
    """A client whose provider answers what the test wants, and the provider's key."""
    key = RSAKey.generate_key(2048, {"kid": "k", "alg": "RS256", "use": "sig"})
    client = OpenIdClient("https://id.example", "sinemora", "s", REDIRECT, "openid")
    metadata = {"issuer": "https://id.example", "jwks_uri": "https://id.example/jwks"}
    keys = KeySet([key]).as_dict()
    monkeypatch.setattr(openid, "_fetch", lambda url, *_: dict(keys if url.endswith("/jwks") else metadata))
    return client, key


def token(key: RSAKey, header: dict[str, Any] | None = None, **claims: Any) -> str:
    now = int(time.time())
    usual = {"iss": "https://id.example", "aud": "sinemora", "sub": "1", "nonce": "n", "iat": now, "exp": now + 300}
    return jwt.encode({"alg": "RS256", "kid": "k", **(header or {})}, {**usual, **claims}, key)


def test_a_good_token_is_taken(forger: tuple[OpenIdClient, RSAKey]):
    client, key = forger
    assert client._verified(token(key), "n")["sub"] == "1"
    assert client._verified(token(key, aud=["sinemora", "other"], azp="sinemora"), "n")["sub"] == "1"


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"aud": "another"},
        {"aud": ["sinemora", "other"]},
        {"nonce": "another"},
        {"nonce": None},
        {"exp": 1},
        {"exp": "soon"},
        {"iat": 99999999999},
        {"sub": ""},
        {"sub": 7},
    ],
)
def test_tokens_that_say_something_else_are_refused(forger: tuple[OpenIdClient, RSAKey], claims: dict[str, Any]):
    client, key = forger
    with pytest.raises(OpenIdError):
        client._verified(token(key, **claims), "n")


def test_tokens_of_other_keys_and_without_signature_are_refused(forger: tuple[OpenIdClient, RSAKey]):
    client, key = forger
    another = RSAKey.generate_key(2048, {"kid": "k"})
    unsigned = "eyJhbGciOiJub25lIn0." + token(key).split(".")[1] + "."
    for forged in (token(another), unsigned, token(key)[:-6] + "AAAAAA", "", "a.b.c"):
        with pytest.raises(OpenIdError):
            client._verified(forged, "n")


@pytest.mark.parametrize(
    ("groups", "role"),
    [({"sre"}, Role.editor), ({"sre", "leads"}, Role.admin), (set(), Role.viewer), ({"x"}, Role.viewer)],
)
def test_the_highest_role_of_the_groups_counts(groups: set[str], role: Role):
    assert group_roles.role_of(groups, group_roles.parse("leads=admin sre=editor *=viewer")) == role
    assert group_roles.role_of({"x"}, group_roles.parse("leads=admin")) is None


@pytest.mark.parametrize("mapping", ["sre", "sre=root", "=viewer", "sre=viewer leads"])
def test_a_wrong_mapping_names_its_entry(mapping: str):
    with pytest.raises(ValueError, match="should look like GROUP=ROLE"):
        group_roles.parse(mapping)
