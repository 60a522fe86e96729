"""Client for range queries of a Prometheus HTTP API (also Thanos, Mimir, VictoriaMetrics) at a tenant's URL."""

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

from sinemora.kit import egress_policy
from sinemora.kit.http_authentication import headers_of
from sinemora.kit.special_networks import Network

_LIMIT_BYTES = 16 << 20
_LIMIT_S = 40.0
_ERROR_TYPES = {"timeout", "canceled", "execution", "bad_data", "internal", "unavailable", "not_found"}
# Prometheus answers at most 11,000 points.
_CHUNK = timedelta(days=5)


class ReadError(Exception):
    """Failure to read the metric, with a message for its owner."""


def query_range(
    url: str,
    query: str,
    start: datetime,
    end: datetime,
    networks: Sequence[Network],
    authentication: Mapping[str, str],
) -> Iterator[tuple[datetime, float]]:
    """Return minutes and values from `start` to `end` (whole minutes, inclusive).

    `authentication` is a dumped `Authentication`; empty for none. `networks` are allowed besides the
    public internet. All requests together take at most 40 s. Raises `ReadError`.
    """
    ends_at = time.monotonic() + _LIMIT_S
    while start <= end:
        until = min(end, start + _CHUNK)
        query_string = urlencode(
            {"query": query, "start": int(start.timestamp()), "end": int(until.timestamp()), "step": 60}
        )
        address = f"{url}/api/v1/query_range?{query_string}"
        yield from _values(_get(address, networks, headers_of(authentication), ends_at - time.monotonic()))
        start = until + timedelta(minutes=1)


def _values(answer: Any) -> Iterator[tuple[datetime, float]]:
    try:
        if answer["status"] != "success":
            # Only an error in the form that Prometheus documents: any other body may be the page of another server.
            kind = answer.get("errorType")
            reason = str(answer.get("error"))[:300] if kind in _ERROR_TYPES else "no error that it documents"
            raise ReadError(f"Query refused by Prometheus: {reason}")
        series = answer["data"]["result"]
        if len(series) > 1:
            raise ReadError(f"Ambiguous query: {len(series)} series; reduce it to one, for example with sum(…)")
        for at, text in series[0]["values"] if series else ():
            value = float(text)
            if math.isfinite(value) and value > 0:
                yield datetime.fromtimestamp(int(at) // 60 * 60, UTC), value
    except (KeyError, TypeError, ValueError, IndexError):
        raise ReadError("Invalid response: not a Prometheus HTTP API") from None


def _get(url: str, networks: Sequence[Network], headers: Mapping[str, str], limit_s: float) -> Any:
    host = urlsplit(url).netloc.rpartition("@")[2]
    if limit_s <= 0:
        raise ReadError(f"{host} did not answer within {_LIMIT_S:g} s")
    try:
        response = egress_policy.request(
            "GET", url, networks, {"Accept": "application/json", **headers}, None, _LIMIT_BYTES + 1, limit_s
        )
    except egress_policy.EgressRefused as error:
        raise ReadError(f"{error} (docs/curves.md)") from None
    except egress_policy.EgressError as error:
        raise ReadError(str(error)) from None
    if response.status in (401, 403):
        refused = "refuses these credentials" if headers else "requires credentials"
        raise ReadError(f"{host} {refused} ({response.status})")
    if len(response.body) > _LIMIT_BYTES:
        raise ReadError(f"Response too large: more than {_LIMIT_BYTES >> 20} MiB")
    try:
        return json.loads(response.body)
    except ValueError:
        raise ReadError(f"{host} returned status {response.status} without JSON") from None
