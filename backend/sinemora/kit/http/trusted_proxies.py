"""Uvicorn's options about the proxies in front of a server."""

from typing import Any

from sinemora.kit.config import settings


def forwarding() -> dict[str, Any]:
    """Return Uvicorn's options about `X-Forwarded-For` and `X-Forwarded-Proto`: only configured proxies are believed.

    Uvicorn by itself believes every program of this machine.
    """
    proxies = [str(network) for network in settings().proxies]
    return {"proxy_headers": bool(proxies), "forwarded_allow_ips": proxies}
