"""A million rows are refused by the limit of rows or of bytes, at once and in bounded memory, also of two users."""

import contextlib
import os
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from json import dumps, loads
from pathlib import Path

import pytest

from tests.api_clients import Caller, Member, key_of
from tests.operations.gateway.processes import HTTP, api_process
from tests.waits import WAIT_MOST_S

ROWS = 1_000_000
SHORT = b"added_us,rate\n" + b"1,9\n" * ROWS
"""Within the limit of bytes: only the number of rows is too large."""
LONG = b"added_us,rate,spread,repeats\n" + b"125.25,990123.5,4000.5,5\n" * ROWS
GROWTH_MOST_MIB = 240
"""Objects of two JSON bodies take most; reading all rows of two CSV files would take 610."""
SECONDS_MOST = 15
"""Processor time of the server for both requests."""


@pytest.fixture(scope="module")
def port(servers: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of an API in a process of its own, on the database of the tests."""
    with api_process(tmp_path_factory.mktemp("uploads")) as server:
        yield int(server.url.rpartition(":")[2])


def sent(
    port: int, caller: Caller, body: bytes, kind: str = "text/csv", chunked: bool = False
) -> tuple[int, dict, float]:
    """Return status, response and seconds of an upload."""
    headers = caller.headers | {"Content-Type": kind}
    connection = HTTPConnection("127.0.0.1", port, timeout=WAIT_MOST_S)
    started = time.monotonic()
    content = (body[at : at + 65536] for at in range(0, len(body), 65536)) if chunked else body
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused before all of it was sent
        connection.request("POST", "/v1/curves?name=large", content, headers, encode_chunked=chunked)
    response = connection.getresponse()
    answer = loads(response.read())
    connection.close()
    return response.status, answer, time.monotonic() - started


def processes(port: int) -> list[Path]:
    """Return the folders in /proc of all processes that listen on a port."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended, or belongs to another user
            if f"SINEMORA_PORT={port}\0" in (folder / "environ").read_text():
                found.append(folder)
    return found


def rss_mib(port: int, peak: bool = False) -> float:
    """Return the memory of all processes that listen on a port, or their peak since `forget_peak`."""
    field = "VmHWM" if peak else "VmRSS"
    texts = [(folder / "status").read_text() for folder in processes(port)]
    return sum(int(re.search(rf"{field}:\s+(\d+) kB", text)[1]) / 1024 for text in texts)  # type: ignore[index]


def forget_peak(port: int) -> None:
    for folder in processes(port):
        (folder / "clear_refs").write_text("5")


def processor_s(port: int) -> float:
    """Return the processor time that all processes that listen on a port have taken."""
    fields = [(folder / "stat").read_text().rpartition(")")[2].split() for folder in processes(port)]
    return sum(int(user) + int(system) for *_, user, system in (one[:13] for one in fields)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize(
    ("body", "kind", "chunked", "status", "words"),
    [
        (SHORT, "text/csv", True, 422, "more than 100,000 rows; average repeats first"),
        (LONG, "text/csv", False, 413, "at most 4194304 bytes"),
        (
            dumps({"name": "large", "rows": [{"latency_us": 1, "performance": 9}] * 100_001}).encode(),
            "application/json",
            False,
            422,
            "at most 100,000 items",
        ),
    ],
    ids=["rows-chunked", "bytes", "json"],
)
def test_a_million_rows_of_two_users_at_once_are_refused(
    owner: Member, other_owner: Member, port: int, body: bytes, kind: str, chunked: bool, status: int, words: str
):
    callers = [key_of(member, "read", "write") for member in (owner, other_owner)]
    sent(port, callers[0], b"added_us,rate\n0,9\n", "text/csv")  # what the first request loads
    forget_peak(port)
    before, took_before_s = rss_mib(port), processor_s(port)
    assert before > 0
    slowest: list[float] = []
    ended = threading.Event()

    def ask() -> None:
        while not ended.is_set():
            started = time.monotonic()
            assert HTTP.get(f"http://127.0.0.1:{port}/healthz", timeout=WAIT_MOST_S).status_code == 200
            slowest.append(time.monotonic() - started)
            time.sleep(0.01)

    with ThreadPoolExecutor() as pool:
        asking = pool.submit(ask)
        results = list(pool.map(lambda caller: sent(port, caller, body, kind, chunked), callers))
        took_s = processor_s(port) - took_before_s
        ended.set()
        asking.result()
    for code, answer, _ in results:
        assert code == status
        assert words in dumps(answer, ensure_ascii=False)
    assert took_s < SECONDS_MOST
    assert rss_mib(port, peak=True) - before < GROWTH_MOST_MIB
    # Others are answered meanwhile, in processor time: on a busy machine the server waits for its turn as they do.
    share = took_s / max(seconds for *_, seconds in results)
    assert max(slowest) * min(share, 1) < SECONDS_MOST / 3
    for caller in callers:  # the same process still fits small tables
        assert sent(port, caller, b"added_us,rate\n0,9\n50,8\n100,7\n200,5\n")[0] == 201
