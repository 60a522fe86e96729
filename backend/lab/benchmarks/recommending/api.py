"""Requests to a running product, whose jobs this process executes, as an idle worker would."""

import time
from importlib import import_module
from typing import Any
from uuid import UUID

from lab.benchmarks.storing.product import Product, key_of
from sinemora.jobs import executor
from sinemora_client.commands import Terminal


class Api(Terminal):
    """Client with an API key of a product's tenant that may read and write."""

    def __init__(self, product: Product) -> None:
        # Register the kind of job here: its queue reads settings, which are only known now.
        import_module("sinemora.recommendations.job")
        super().__init__(product.url(""), key_of(product.tenant_id, "write"))
        self.product = product

    def recommendation(self, question: dict[str, Any]) -> tuple[dict[str, Any], float]:
        """Return a recommendation, or the problem of a failed search, and the seconds from request to stored result."""
        started = time.perf_counter()
        job = self.read("/v1/recommendations", question)
        executor.run(self.product.tenant_id, UUID(job["id"]))
        ended = time.perf_counter()
        done = self.read(f"/v1/jobs/{job['id']}")
        if done["state"] == "succeeded":
            answer = self.read(f"/v1/recommendations/{done['result']['recommendation_id']}")
        else:
            answer = {"problem": done["problem"]}
        return answer, ended - started
