"""The URL of a webhook: a secret, since anyone who knows it can post there, and it may contain a password.

A receiver's settings keep it encrypted as `sealed`, next to the `url` that is shown: scheme and host. Without
SINEMORA_SECRET_KEY, and of receivers from before, `url` is the whole one, which is never shown either.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from sinemora.kit import encryption
from sinemora.kit.errors import ProductError


def shown(url: str) -> str:
    """Return a URL as it is shown: `https://example.com/…`; whole if it has no user, path or query."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    more = parts.username is not None or parts.path.strip("/") or parts.query or parts.fragment
    return f"{parts.scheme}://{host}/…" if more else url


def sealed(url: str) -> dict[str, Any]:
    """Return the settings that keep a URL."""
    try:
        return {"url": shown(url), "sealed": encryption.encrypt({"url": url}).decode()}
    except ProductError:  # no key
        return {"url": url}


def opened(settings: Mapping[str, Any]) -> str:
    """Return the URL that settings keep; empty without one. ProductError `secret_key_missing`, `secret_unreadable`."""
    token = settings.get("sealed")
    return str(settings.get("url", "") if token is None else encryption.decrypt(token.encode())["url"])
