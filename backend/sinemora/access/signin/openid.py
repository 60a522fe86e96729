"""OpenID Connect Core 1.0: authorization code flow with PKCE (RFC 7636, S256), discovery, checks of the ID token."""

import base64
import hashlib
import json
import secrets
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

_LIMIT_S = 10.0
_LIMIT_BYTES = 1 << 20
_METADATA_S = 3600
_KEYS_S = 300
_CLOCK_S = 60
# Signatures with a public key; `none` and shared secrets are refused.
_ALGORITHMS = ["RS256", "PS256", "ES256", "ES384", "RS384", "RS512", "PS384", "PS512", "EdDSA"]


class OpenIdError(Exception):
    """Provider that cannot be reached, or answer of it that must not be trusted. The message is for the log."""


@dataclass(frozen=True)
class Request:
    """Authorization request: the URL for the browser, and what has to be kept until the answer."""

    url: str
    state: str
    nonce: str
    verifier: str


@dataclass
class OpenIdClient:
    """Client of one provider. Metadata and keys are cached; an unknown key is looked up again."""

    issuer: str
    client_id: str
    client_secret: str
    redirect_uri: str
    scopes: str
    _cache: dict[str, tuple[float, dict[str, Any]]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def authorization(self) -> Request:
        """Return a new authorization request. OpenIdError."""
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
        endpoint = self._metadata_url("authorization_endpoint")
        joint = "&" if urllib.parse.urlsplit(endpoint).query else "?"
        return Request(f"{endpoint}{joint}{urllib.parse.urlencode(parameters)}", state, nonce, verifier)

    def claims(self, code: str, nonce: str, verifier: str) -> dict[str, Any]:
        """Exchange a code and return the claims of the verified ID token, completed by the UserInfo. OpenIdError."""
        body = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": verifier,
        }
        credentials = f"{urllib.parse.quote_plus(self.client_id)}:{urllib.parse.quote_plus(self.client_secret)}"
        basic = base64.b64encode(credentials.encode()).decode()  # RFC 6749, section 2.3.1
        answer = _fetch(
            self._metadata_url("token_endpoint"),
            {"Authorization": f"Basic {basic}", "Content-Type": "application/x-www-form-urlencoded"},
            urllib.parse.urlencode(body).encode(),
        )
        claims = self._verified(_text(answer, "id_token"), nonce)
        endpoint = self._metadata().get("userinfo_endpoint")
        if isinstance(endpoint, str) and isinstance(answer.get("access_token"), str):
            more = _fetch(endpoint, {"Authorization": f"Bearer {answer['access_token']}"})
            if more.get("sub") != claims["sub"]:  # OpenID Connect Core, section 5.3.2
                raise OpenIdError("the UserInfo is about somebody else")
            claims = {**more, **claims}
        return claims

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
        url = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
        metadata = self._cached(url, _METADATA_S)
        if metadata.get("issuer") != self.issuer:
            raise OpenIdError(f"the provider names itself {metadata.get('issuer')!r}, not {self.issuer!r}")
        return metadata

    def _metadata_url(self, name: str) -> str:
        return _text(self._metadata(), name)

    def _keys(self, *, renewed: bool) -> dict[str, Any]:
        """Return the provider's keys; `renewed` fetches them again, since providers rotate keys."""
        return self._cached(self._metadata_url("jwks_uri"), 0 if renewed else _KEYS_S)

    def _cached(self, url: str, life_s: float) -> dict[str, Any]:
        with self._lock:
            fetched_at, answer = self._cache.get(url, (-life_s - 1, {}))
            if time.monotonic() - fetched_at > life_s:
                answer = _fetch(url)
                self._cache[url] = (time.monotonic(), answer)
            return answer


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def _fetch(url: str, headers: Mapping[str, str] | None = None, body: bytes | None = None) -> dict[str, Any]:
    """Return the JSON object at a URL of the provider. OpenIdError."""
    request = urllib.request.Request(url, body, {"Accept": "application/json", **(headers or {})})
    try:
        with _opener.open(request, timeout=_LIMIT_S) as response:
            content = response.read(_LIMIT_BYTES + 1)
    except urllib.error.HTTPError as error:
        raise OpenIdError(f"{url} answers {error.code}: {error.read(300).decode(errors='replace')}") from None
    except (OSError, ValueError) as error:
        raise OpenIdError(f"{url} cannot be reached: {error}") from None
    try:
        answer = json.loads(content) if len(content) <= _LIMIT_BYTES else None
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise OpenIdError(f"{url} does not answer with a JSON object")
    return answer


def _text(answer: Mapping[str, Any], name: str) -> str:
    value = answer.get(name)
    if not isinstance(value, str):
        raise OpenIdError(f"the provider's answer has no {name}")
    return value
