"""Requests to a running product, whose jobs this process executes, as an idle worker would."""

import json
import secrets
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any
from uuid import UUID

from lab.benchmarks.storing.product import Product
from sinemora.access.api_keys.models import ApiKey
from sinemora.jobs import executor
from sinemora.kit.db import tenant_session
from sinemora.kit.security import digest


class Api:
    """An API key of a product's tenant that may read and write."""

    def __init__(self, product: Product, name: str) -> None:
        # Register the kind of job here: its queue reads settings, which are only known now.
        import_module("sinemora.recommendations.job")
        self.product = product
        self._secret = f"sm_{secrets.token_urlsafe(24)}"
        with tenant_session(product.tenant_id) as session:
            session.add(
                ApiKey(
                    name=name,
                    prefix=self._secret[:8],
                    secret_digest=digest(self._secret),
                    scopes=["read", "write"],
                    expires_at=datetime.now(UTC) + timedelta(days=1),
                )
            )

    def send(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the response of the API. Raises `RuntimeError` with its problem."""
        headers = {"Authorization": f"Bearer {self._secret}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.product.url(path), data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                response: dict[str, Any] = json.load(reply)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.read().decode()}") from None
        return response

    def recommendation(self, question: dict[str, Any]) -> tuple[dict[str, Any], float, float]:
        """Return a recommendation, the seconds from request to stored result, and those of the request alone.

        A failed search is its problem.
        """
        started = time.perf_counter()
        job = self.send("POST", "/v1/recommendations", question)
        requested = time.perf_counter()
        executor.run(self.product.tenant_id, UUID(job["id"]))
        ended = time.perf_counter()
        done = self.send("GET", f"/v1/jobs/{job['id']}")
        if done["state"] == "succeeded":
            answer = self.send("GET", f"/v1/recommendations/{done['result']['recommendation_id']}")
        else:
            answer = {"problem": done["problem"]}
        return answer, ended - started, requested - started
