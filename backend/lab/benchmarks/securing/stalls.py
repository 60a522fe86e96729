"""Measures the silence of the API while a caller sends known expensive requests."""

import http.client
import json
import multiprocessing as mp
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.synchronize import Event as Flag
from urllib.parse import quote

import zstandard

PROBE_PAUSE_S = 0.01
_TIMEOUT_S = 60


@dataclass(frozen=True)
class Attack:
    """Request that a sender repeats."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""


def anonymous_attacks() -> list[Attack]:
    """Return the known expensive bodies, sent without credentials."""
    json_type, zstd = {"Content-Type": "application/json"}, {"Content-Encoding": "zstd"}
    many = b"[" + b"[]," * 2_700_000 + b"[]]"
    deep = (b"[" * 100_000 + b"]" * 100_000)[:16_000]
    windows = zstandard.compress(json.dumps({"windows": [{}] * 300_000}).encode())
    bomb = zstandard.compress(b"\0" * 200_000_000)
    sign_in, reports = "/v1/auth/sign-in", "/v1/agents/self/reports"
    return [
        Attack("POST", "/v1/zones", json_type, many),
        Attack("POST", sign_in, json_type, many),
        Attack("POST", sign_in, json_type, deep),
        Attack("POST", "/v1/agents/enrol", json_type, deep),
        Attack("POST", sign_in, json_type, b'{"email": "a@b.c", "password": "x"}'),
        Attack("POST", reports, json_type | zstd, windows),
        Attack("POST", reports, {"Content-Type": "application/x-protobuf"} | zstd, bomb),
        Attack("POST", "/v1/alert-rules/manifest", {"Content-Type": "application/yaml"}, b"[" * 120_000),
        Attack("GET", "/v1/zones", {"Authorization": "Bearer sm_" + "x" * 40}),
        Attack("GET", "/v1/zones?cursor=" + "a" * 8_000, {}),
    ]


def regex_attacks(secret: str) -> list[Attack]:
    """Return queries with regular expressions that make backtracking engines exponential."""
    key = {"Authorization": f"Bearer {secret}"}
    patterns = ("([a-z_]+)+!", "(..?)+!", "(a|a)*b", "(x+x+)+y", "(((a{1,20}){1,20}){1,20})")
    queries = [f'{{__name__=~"{pattern}", mesh=~"{pattern}"}}' for pattern in patterns]
    return [Attack("GET", f"/v1/prometheus/api/v1/query?query={quote(query)}", key) for query in queries]


def stall_ms(port: int, attacks: Sequence[Attack], seconds: float) -> list[float]:
    """Return the times of answers of /healthz while one sender repeats the attacks in turn for `seconds`, ms."""
    context = mp.get_context("spawn")
    stop, began = context.Event(), context.Event()
    sender = context.Process(target=_send, args=(port, list(attacks), stop, began), daemon=True)
    sender.start()
    began.wait(30)
    try:
        return _probe(port, seconds)
    finally:
        stop.set()
        sender.join(_TIMEOUT_S)


def _probe(port: int, seconds: float) -> list[float]:
    times = []
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.perf_counter()
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        times.append(1e3 * (time.perf_counter() - began))
        time.sleep(PROBE_PAUSE_S)
    connection.close()
    return times


def _send(port: int, attacks: list[Attack], stop: Flag, began: Flag) -> None:
    began.set()
    while not stop.is_set():
        for attack in attacks:
            # A refusal may close the connection before all of the body is sent.
            with suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)
                connection.request(attack.method, attack.path, attack.body or None, attack.headers)
                connection.getresponse().read()
                connection.close()
            if stop.is_set():
                return
