"""`X-Forwarded-…` of anybody but a configured proxy is not believed: limits and audit would have a wrong address."""

import asyncio
from typing import Any

import pytest
import uvicorn

from sinemora.kit.http.connection import server_options


def seen(client: str, **headers: str) -> tuple[str, str]:
    """Return address and scheme that an application sees of a request, behind the server as it is configured."""
    found: list[tuple[str, str]] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        found.append((scope["client"][0], scope["scheme"]))

    async def nothing(*_: Any) -> Any:
        return {}

    server = uvicorn.Config(application, interface="asgi3", **server_options())
    server.load()
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "client": (client, 1), "scheme": "http", "headers": raw}
    asyncio.run(server.loaded_app(scope, nothing, nothing))  # type: ignore[arg-type]
    return found[0]


def test_nobody_is_believed_by_default(set_to: Any, monkeypatch: pytest.MonkeyPatch):
    set_to(trusted_proxies="")
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")  # of Uvicorn: another door
    for client in ("127.0.0.1", "::1", "192.0.2.7"):
        assert seen(client, x_forwarded_for="203.0.113.9", x_forwarded_proto="https") == (client, "http")


def test_a_configured_proxy_is_believed_and_others_are_not(set_to: Any):
    set_to(trusted_proxies="10.0.0.0/8 127.0.0.1/32")
    for client in ("127.0.0.1", "10.1.2.3"):
        assert seen(client, x_forwarded_for="203.0.113.9", x_forwarded_proto="https") == ("203.0.113.9", "https")
    # What a caller claimed before the proxy is not taken: the proxy's own entry is the last.
    assert seen("10.1.2.3", x_forwarded_for="198.51.100.1, 203.0.113.9") == ("203.0.113.9", "http")
    assert seen("192.0.2.7", x_forwarded_for="203.0.113.9") == ("192.0.2.7", "http")
