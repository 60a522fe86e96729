"""OpenID Connect Core 1.0: authorization code flow with PKCE (RFC 7636, S256), discovery, checks of the ID token."""

import base64
import hashlib
import json
import secrets
import threading
import time
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from sinemora.kit import egress_policy, special_networks
from sinemora.kit.egress_policy import EgressError
from sinemora.kit.special_networks import Network

ANYWHERE = special_networks.parse("0.0.0.0/0 ::/0")
_LIMIT_S = 10.0
_WAIT_S = 2.0
_AGAIN_S = 5.0
_AT_ONCE = 4
_LIMIT_BYTES = 128 << 10
_METADATA_S = 3600
_KEYS_S = 300
_CLOCK_S = 60
# Signatures with a public key; `none` and shared secrets are refused.
_ALGORITHMS = ["RS256", "PS256", "ES256", "ES384", "RS384", "RS512", "PS384", "PS512", "EdDSA"]


# Threads of this process that may wait for the providers of all tenants: other requests need the rest.
_of_tenants = threading.BoundedSemaphore(16)


class OpenIdError(Exception):
    """Provider that cannot be reached, or answer of it that must not be trusted. The message is for who set it.

    `refusal`: the error code of OAuth in the answer (RFC 6749, section 5.2). `is_away`: there was no answer.
    """

    def __init__(self, message: str, refusal: str = "", *, is_away: bool = False) -> None:
        super().__init__(message)
        self.refusal = refusal
        self.is_away = is_away


@dataclass(frozen=True)
class Request:
    """Authorization request: the URL for the browser, and what has to be kept until the answer."""

    url: str
    state: str
    nonce: str
    verifier: str


@dataclass
class OpenIdClient:
    """Client of one provider. Metadata and keys are cached; an unknown key is looked up again.

    `networks`: those in which a tenant may have its provider, apart from the public internet. Such a provider has TLS
    outside of them. At most 4 threads wait for it, and none for 5 s after it did not answer.
    """

    issuer: str
    client_id: str
    client_secret: str
    redirect_uri: str
    scopes: str
    networks: Sequence[Network] = ANYWHERE
    _cache: dict[str, tuple[float, dict[str, Any]]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _places: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(_AT_ONCE))
    _failure: tuple[float, str] = (-_AGAIN_S, "")

    def authorization(self) -> Request:
        """Return a new authorization request. OpenIdError."""
        methods = self._metadata().get("code_challenge_methods_supported")
        if isinstance(methods, list) and "S256" not in methods:  # some support it and publish nothing
            raise OpenIdError("the provider does not support PKCE with S256 (code_challenge_methods_supported)")
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        parameters = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": self.scopes,
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        endpoint = self._url("authorization_endpoint")
        joint = "&" if urllib.parse.urlsplit(endpoint).query else "?"
        return Request(f"{endpoint}{joint}{urllib.parse.urlencode(parameters)}", state, nonce, verifier)

    def fresh(self) -> "OpenIdClient":
        """Return a client that remembers nothing, and waits together with this one."""
        return replace(self, _cache={}, _lock=threading.Lock(), _failure=(-_AGAIN_S, ""))

    def check(self) -> None:
        """Check what needs no person: discovery, keys, and the secret of this client. OpenIdError."""
        self.authorization()
        methods = self._metadata().get("token_endpoint_auth_methods_supported")
        if isinstance(methods, list) and "client_secret_basic" not in methods:
            raise OpenIdError("the provider does not support client_secret_basic for the token endpoint")
        try:
            KeySet.import_key_set(self._keys(renewed=True))  # type: ignore[arg-type]
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise OpenIdError(f"the keys at {self._url('jwks_uri')} cannot be read: {error}") from None
        try:
            self._exchange("a code that no provider has issued", "a" * 43)
        except OpenIdError as error:
            if error.refusal in ("invalid_client", "unauthorized_client"):
                raise OpenIdError("the provider refuses client id or client secret") from None
            if not error.refusal:
                raise

    def refuse_mixed_up(self, issuer: str) -> None:
        """Check the issuer in an authorization response (RFC 9207); empty: there is none. OpenIdError."""
        announced = self._metadata().get("authorization_response_iss_parameter_supported") is True
        if issuer != self.issuer and (issuer or announced):
            raise OpenIdError(f"the answer is of the issuer {issuer!r}, not of {self.issuer!r}")

    def claims(self, code: str, nonce: str, verifier: str) -> dict[str, Any]:
        """Exchange a code and return the claims of the verified ID token, completed by the UserInfo. OpenIdError."""
        answer = self._exchange(code, verifier)
        claims = self._verified(_text(answer, "id_token"), nonce)
        if self._metadata().get("userinfo_endpoint") and isinstance(answer.get("access_token"), str):
            more = self._fetch(self._url("userinfo_endpoint"), {"Authorization": f"Bearer {answer['access_token']}"})
            if more.get("sub") != claims["sub"]:  # OpenID Connect Core, section 5.3.2
                raise OpenIdError("the UserInfo is about somebody else")
            claims = {**more, **claims}
        return claims

    def _exchange(self, code: str, verifier: str) -> dict[str, Any]:
        """Exchange a code at the token endpoint. OpenIdError."""
        body = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": verifier,
        }
        credentials = f"{urllib.parse.quote_plus(self.client_id)}:{urllib.parse.quote_plus(self.client_secret)}"
        basic = base64.b64encode(credentials.encode()).decode()  # RFC 6749, section 2.3.1
        return self._fetch(
            self._url("token_endpoint"),
            {"Authorization": f"Basic {basic}", "Content-Type": "application/x-www-form-urlencoded"},
            urllib.parse.urlencode(body).encode(),
        )

    def _verified(self, id_token: str, nonce: str) -> dict[str, Any]:
        """Return the claims of an ID token that passes OpenID Connect Core, section 3.1.3.7. OpenIdError."""
        token = None
        for renewed in (False, True):
            try:
                keys = KeySet.import_key_set(self._keys(renewed=renewed))  # type: ignore[arg-type]
                token = jwt.decode(id_token, keys, algorithms=_ALGORITHMS)
                break
            except (JoseError, ValueError, TypeError, KeyError) as error:
                if renewed:
                    raise OpenIdError(f"ID token refused: {error}") from None
        assert token is not None
        claims, now = dict(token.claims), time.time()
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        if claims.get("iss") != self._metadata()["issuer"]:
            raise OpenIdError("ID token refused: it has another issuer")
        if self.client_id not in audiences or (len(audiences) > 1 and claims.get("azp") != self.client_id):
            raise OpenIdError("ID token refused: it is for another client")
        expires, issued = claims.get("exp"), claims.get("iat")
        if not isinstance(expires, int | float) or not isinstance(issued, int | float):
            raise OpenIdError("ID token refused: it has no times")
        if expires + _CLOCK_S < now or issued - _CLOCK_S > now:
            raise OpenIdError("ID token refused: it has expired or is from the future; compare the clocks")
        if not secrets.compare_digest(str(claims.get("nonce", "")), nonce):
            raise OpenIdError("ID token refused: it answers another request")
        if not isinstance(claims.get("sub"), str) or not claims["sub"]:
            raise OpenIdError("ID token refused: it names nobody")
        return claims

    def _metadata(self) -> dict[str, Any]:
        """Return the provider's metadata (OpenID Connect Discovery 1.0, section 4). OpenIdError."""
        url = f"{checked_url(self.issuer, self.networks).rstrip('/')}/.well-known/openid-configuration"
        metadata = self._cached(url, _METADATA_S)
        if metadata.get("issuer") != self.issuer:
            raise OpenIdError(f"the provider names itself {metadata.get('issuer')!r}, not {self.issuer!r}")
        return metadata

    def _url(self, name: str) -> str:
        """Return an address in the provider's metadata. OpenIdError."""
        return checked_url(_text(self._metadata(), name), self.networks)

    def _keys(self, *, renewed: bool) -> dict[str, Any]:
        """Return the provider's keys; `renewed` fetches them again, since providers rotate keys."""
        return self._cached(self._url("jwks_uri"), 0 if renewed else _KEYS_S)

    def _cached(self, url: str, life_s: float) -> dict[str, Any]:
        if not self._lock.acquire(timeout=_WAIT_S):
            raise OpenIdError(f"{url} is slow, and others wait for it already")
        try:
            fetched_at, answer = self._cache.get(url, (-life_s - 1, {}))
            if time.monotonic() - fetched_at > life_s:
                answer = self._fetch(url)
                self._cache[url] = (time.monotonic(), answer)
            return answer
        finally:
            self._lock.release()

    def _fetch(self, url: str, headers: Mapping[str, str] | None = None, body: bytes | None = None) -> dict[str, Any]:
        """Return the JSON object at a URL of the provider. OpenIdError."""
        with self._place():
            return _fetch(url, headers, body, self.networks)

    @contextmanager
    def _place(self) -> Iterator[None]:
        """Take a thread for a request to the provider of a tenant. OpenIdError."""
        if self.networks is ANYWHERE:
            yield
            return
        failed_at, reason = self._failure
        if time.monotonic() - failed_at < _AGAIN_S:
            raise OpenIdError(reason)
        if not self._places.acquire(blocking=False):
            raise OpenIdError("too many requests wait for the provider")
        try:
            if not _of_tenants.acquire(timeout=_WAIT_S):
                raise OpenIdError("too many requests wait for providers")
            try:
                yield
            finally:
                _of_tenants.release()
        except OpenIdError as error:
            if error.is_away:
                self._failure = (time.monotonic(), str(error))
            raise
        finally:
            self._places.release()


def checked_url(url: str, networks: Sequence[Network]) -> str:
    """Return an address of a provider, which has TLS outside of the operator's own networks. OpenIdError."""
    try:
        parts = urllib.parse.urlsplit(url)
        host = parts.hostname or ""
    except ValueError as error:
        raise OpenIdError(f"{url!r} is no address: {error}") from None
    own = networks is ANYWHERE or special_networks.is_exception(host, networks)
    if not host or parts.scheme not in (("http", "https") if own else ("https",)):
        raise OpenIdError(f"{url!r} must be an address that begins with https://")
    return url


def _fetch(
    url: str, headers: Mapping[str, str] | None, body: bytes | None, networks: Sequence[Network]
) -> dict[str, Any]:
    """Return the JSON object at a URL of the provider. OpenIdError."""
    try:
        response = egress_policy.request(
            "GET" if body is None else "POST",
            url,
            networks,
            {"Accept": "application/json", **(headers or {})},
            body,
            _LIMIT_BYTES + 1,
            _LIMIT_S,
        )
    except EgressError as error:
        raise OpenIdError(f"{url} cannot be reached: {error}", is_away=True) from None
    try:
        answer = json.loads(response.body) if len(response.body) <= _LIMIT_BYTES else None
    except ValueError:
        answer = None
    if response.status != 200:
        # Of the body only what RFC 6749 defines, which is for developers.
        fields = answer if isinstance(answer, dict) else {}
        refusal, reason = (str(fields.get(name, ""))[:200] for name in ("error", "error_description"))
        raise OpenIdError(f"{url} answers {response.status} {refusal} {reason}".rstrip(), refusal)
    if not isinstance(answer, dict):
        raise OpenIdError(f"{url} does not answer with a JSON object")
    return answer


def _text(answer: Mapping[str, Any], name: str) -> str:
    value = answer.get(name)
    if not isinstance(value, str):
        raise OpenIdError(f"the provider's answer has no {name}")
    return value
