"""Someone who uses the product over HTTP, with the standard library only."""

import http.cookiejar
import json
import ssl
import urllib.error
import urllib.request
from typing import Any


class Answer:
    """What came back: `status`, `headers`, `body` and, where it is one, the JSON value."""

    def __init__(self, status: int, headers: Any, body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Visitor:
    """A browser of sorts: keeps cookies, sends the CSRF token back, follows no redirect."""

    def __init__(self, base: str) -> None:
        self.base = base
        self._csrf = ""
        trusting = ssl.create_default_context()
        trusting.check_hostname = False
        trusting.verify_mode = ssl.CERT_NONE
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}),
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()),
            urllib.request.HTTPSHandler(context=trusting),
            _NoRedirect(),
        )

    def open(self, method: str, path: str, body: Any = None, *, limit_s: float = 20) -> Any:
        """Return the answer as it streams in. Raises urllib.error.HTTPError or OSError."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, method=method)
        request.add_header("Content-Type", "application/json")
        if self._csrf:
            request.add_header("X-CSRF-Token", self._csrf)
        return self._opener.open(request, timeout=limit_s)

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        """Return the whole answer, whatever its status; status 0 when there is none."""
        try:
            with self.open(method, path, body) as found:
                return Answer(found.status, found.headers, found.read())
        except urllib.error.HTTPError as refusal:
            return Answer(refusal.code, refusal.headers, refusal.read())
        except OSError as error:
            return Answer(0, {}, str(error).encode())

    def get(self, path: str) -> Answer:
        return self.ask("GET", path)

    def post(self, path: str, body: Any) -> Answer:
        return self.ask("POST", path, body)

    def sign_in(self, email: str, password: str) -> Answer:
        """Open a session; later requests belong to it."""
        answer = self.post("/v1/auth/sign-in", {"email": email, "password": password})
        if answer.status == 200:
            self._csrf = answer.json["csrf_token"]
        return answer


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None
