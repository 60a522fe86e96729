"""Reports over real connections: bodies in pieces, early refusals, equal responses with and without a length."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import sleep
from typing import Any

import pytest
import zstandard

from sinemora.kit import config
from sinemora.kit.observability import tracing
from sinemora.kit.observability.telemetry import REQUEST_SECONDS, REQUESTS
from sinemora.main import Server, server
from sinemora.measurements import metrics
from tests.api_clients import AgentCaller, MeshWorld
from tests.conftest import Servers
from tests.measurements.reports import PROTOBUF, ZSTD, report_of, window_start
from tests.measurements.worlds import simple
from tests.terminal import serving
from tests.waits import WAIT_MOST_S, until

pytestmark = pytest.mark.agents(2)

REPORTS = "/v1/agents/self/reports"
Address = tuple[str, int]
# Differ between two responses to the same request.
OWN = {"date", "sinemora-held-ns", "sinemora-time-ns", "x-request-id"}


@pytest.fixture(scope="module")
def running(servers: Servers) -> Iterator[tuple[Server, Address]]:
    started = server()
    with serving(started) as address:
        yield started, address


@pytest.fixture
def address(running: tuple[Server, Address]) -> Address:
    return running[1]


def body_for(mesh: MeshWorld, mesh_key: int | None = None, windows_ago: int = 1, sender: int = 0) -> bytes:
    peers = {mesh.agents[1 - sender].vm_key: simple(50_000)}
    report = report_of(mesh.key if mesh_key is None else mesh_key, peers, window_start(windows_ago))
    return report.SerializeToString()


def head_of(headers: dict[str, str], version: str = "1.1") -> bytes:
    lines = [f"POST {REPORTS} HTTP/{version}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def named(agent: AgentCaller, **more: str) -> dict[str, str]:
    """Return the headers of a report: `more` by names with underscores."""
    given = {name.replace("_", "-"): value for name, value in more.items()}
    return {"Host": "api.example", **agent.headers, **PROTOBUF, **given}


def with_length(headers: dict[str, str], body: bytes) -> bytes:
    return head_of({**headers, "Content-Length": str(len(body))}) + body


def chunked(headers: dict[str, str], body: bytes) -> bytes:
    """Return the same request without a length in its head."""
    chunk = b"%x\r\n%s\r\n" % (len(body), body) if body else b""
    return head_of({**headers, "Transfer-Encoding": "chunked"}) + chunk + b"0\r\n\r\n"


class Connection:
    """A connection that reads whole responses."""

    def __init__(self, address: Address) -> None:
        self.socket = socket.create_connection(address, WAIT_MOST_S)
        self.buffer = b""

    def read(self) -> tuple[str, list[tuple[str, str]], bytes]:
        """Return status line, headers and body of the next response."""
        head, rest = self._until(lambda: b"\r\n\r\n" in self.buffer and self.buffer.split(b"\r\n\r\n", 1))
        status, *lines = head.decode("latin-1").split("\r\n")
        headers = [(name, value) for name, _, value in (line.partition(": ") for line in lines)]
        size = int(dict(headers).get("content-length", 0))
        self.buffer = rest
        self._until(lambda: len(self.buffer) >= size)
        body, self.buffer = self.buffer[:size], self.buffer[size:]
        return status, headers, body

    def _until(self, found: Callable[[], Any]) -> Any:
        while not (result := found()):
            piece = self.socket.recv(65_536)
            assert piece, "the server closed the connection"
            self.buffer += piece
        return result


@contextmanager
def connected(address: Address) -> Iterator[Connection]:
    opened = Connection(address)
    with opened.socket:
        yield opened


def asked(address: Address, request: bytes) -> tuple[str, list[tuple[str, str]], bytes]:
    with connected(address) as agents_own:
        agents_own.socket.sendall(request)
        return agents_own.read()


def steady(response: tuple[str, list[tuple[str, str]], bytes]) -> tuple[str, list[tuple[str, str | None]], bytes]:
    """Return a response without what differs each time; the names of such headers stay, in their places."""
    status, headers, body = response
    own_id = dict(headers)["x-request-id"].encode()
    return status, [(name, None if name in OWN else value) for name, value in headers], body.replace(own_id, b"")


@pytest.fixture
def known(address: Address, mesh: MeshWorld) -> AgentCaller:
    """An agent whose credential the server has looked up."""
    agent = mesh.agents[0]
    assert asked(address, with_length(named(agent), body_for(mesh, windows_ago=30)))[0].split()[1] == "204"
    return agent


def test_skipped_windows_are_counted_in_the_response(address: Address, mesh: MeshWorld, known: AgentCaller) -> None:
    peers = {mesh.agents[1].vm_key: simple(50_000)}
    report = report_of(mesh.key, peers)
    report.windows.add().CopyFrom(report.windows[0])
    report.windows[1].mesh_key = 2**31 - 1
    body = report.SerializeToString()
    with_its_length, in_chunks = (asked(address, form(named(known), body)) for form in (with_length, chunked))
    assert steady(with_its_length) == steady(in_chunks)
    assert dict(with_its_length[1])["sinemora-skipped-windows"] == "1"


REFUSED: list[tuple[int, str, dict[str, str], bytes | None]] = [
    (401, "agent_credential_unknown", {"Authorization": "Bearer sma_nobody"}, None),
    (401, "sign_in_required", {"Authorization": "Basic eDp5"}, None),
    (401, "sign_in_required", {"Authorization": ""}, None),
    (415, "media_type_unsupported", {"Content-Type": "text/plain"}, None),
    (415, "content_encoding_unsupported", {"Content-Encoding": "gzip"}, None),
    (422, "malformed_report", {}, b"\xff\xff\xff"),
    (422, "malformed_report", {"Content-Encoding": "zstd"}, b"not zstd"),
    (422, "malformed_report", {"Content-Type": "application/json"}, b"{"),
    (413, "body_too_large", {"Content-Encoding": "zstd"}, zstandard.compress(b"\0" * (100 << 20))),
    (422, "malformed_report", {}, b"\x08\x00" * 200_000),
    (400, "host_invalid", {"Host": "a host"}, None),
]


def test_a_refusal_is_equal_with_and_without_a_length(address: Address, mesh: MeshWorld, known: AgentCaller) -> None:
    for status, code, more, body in REFUSED:
        headers = named(known) | more
        content = body_for(mesh) if body is None else body
        with_its_length, in_chunks = (asked(address, form(headers, content)) for form in (with_length, chunked))
        assert (with_its_length[0].split()[1], json.loads(with_its_length[2])["code"]) == (str(status), code)
        assert dict(with_its_length[1])["content-type"] == "application/problem+json"
        assert steady(with_its_length) == steady(in_chunks)


def test_a_report_counts_once_against_the_rate_of_its_agent(
    address: Address, mesh: MeshWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config.settings(), "agent_reports_per_minute", 3)
    bodies = (body_for(mesh), b"\xff", body_for(mesh), body_for(mesh))  # a refused one counts
    statuses = [asked(address, with_length(named(mesh.agents[0]), body)) for body in bodies]
    assert [status.split()[1] for status, _, _ in statuses] == ["204", "422", "204", "429"]
    assert int(dict(statuses[3][1])["retry-after"]) > 0
    assert b'"reports_too_many"' in statuses[3][2]


def test_a_failure_is_a_problem_and_the_connection_stays(
    address: Address,
    mesh: MeshWorld,
    known: AgentCaller,
    running: tuple[Server, Address],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def broken(*_: Any) -> int:
        raise RuntimeError("no store")

    with connected(address) as agents_own:
        with monkeypatch.context() as patched:
            patched.setattr(running[0].app.state.ingest, "take", broken)
            agents_own.socket.sendall(with_length(named(known), body_for(mesh)))
            status, headers, body = agents_own.read()
        assert status.split()[1] == "500"
        assert dict(headers)["content-type"] == "application/problem+json"
        assert b'"internal' in body
        agents_own.socket.sendall(with_length(named(known), body_for(mesh)))
        assert agents_own.read()[0].split()[1] == "204"


def test_an_unknown_agent_is_refused_before_its_body_arrives(
    address: Address, mesh: MeshWorld, known: AgentCaller
) -> None:
    head = head_of({**named(mesh.agents[0]), "Authorization": "Bearer sma_nobody", "Content-Length": "1000"})
    assert asked(address, head)[0].split()[1] == "401"
    too_long = head_of({**named(known), "Content-Length": str(1 << 30)})
    assert asked(address, too_long)[0].split()[1] == "413"


def test_a_report_is_stored_in_pieces_and_in_a_row(address: Address, mesh: MeshWorld) -> None:
    agent = mesh.agents[0]
    body = body_for(mesh)
    request, packed = with_length(named(agent), body), with_length(named(agent) | ZSTD, zstandard.compress(body))
    with connected(address) as agents_own:
        for cut in (10, len(request) - 5):
            agents_own.socket.sendall(request[:cut])
            sleep(0.05)
            agents_own.socket.sendall(request[cut:])
            assert agents_own.read()[0] == "HTTP/1.1 204 No Content"
        other = b"GET /healthz HTTP/1.1\r\nHost: api.example\r\n\r\n"
        agents_own.socket.sendall(request + packed + other + request)
        assert [agents_own.read()[0].split()[1] for _ in range(4)] == ["204", "204", "200", "204"]


def test_reports_are_counted_and_timed_by_their_route(address: Address, mesh: MeshWorld, known: AgentCaller) -> None:

    def counts() -> tuple[float, float, float]:
        timed = next(
            sample.value
            for sample in REQUEST_SECONDS.labels("POST", REPORTS)._child_samples()
            if sample.name == "_count"
        )
        return (
            REQUESTS.labels("POST", REPORTS, "204")._value.get(),
            timed,
            metrics.REPORTS.labels("stored")._value.get(),
        )

    before = counts()
    asked(address, with_length(named(known), body_for(mesh)))
    assert [after - value for after, value in zip(counts(), before, strict=True)] == [1, 1, 1]


def test_a_report_whose_agent_leaves_is_counted(address: Address, mesh: MeshWorld, known: AgentCaller) -> None:
    body = body_for(mesh)
    refused = REQUESTS.labels("POST", REPORTS, "400")
    before = refused._value.get()
    with connected(address) as agents_own:
        agents_own.socket.sendall(with_length(named(known), body)[:-5])
    until(lambda: refused._value.get() == before + 1, "the count of the report that did not arrive")


def test_a_traced_process_sends_reports_through_its_middleware(
    address: Address, mesh: MeshWorld, known: AgentCaller, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[dict[str, Any]] = []
    monkeypatch.setattr(tracing, "is_on", lambda: True)
    monkeypatch.setattr(tracing, "set_attributes", lambda **attributes: passed.append(attributes))
    assert asked(address, with_length(named(known), body_for(mesh)))[0].split()[1] == "204"
    assert [list(attributes) for attributes in passed[:1]] == [["sinemora.request_id"]]
