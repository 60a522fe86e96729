"""Live events through a real server: one per window, after a restart of Valkey too, and no connection held."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from sinemora.kit import db
from sinemora.measurements.live import hub
from tests.api_clients import Member, MeshWorld, accept_too, join
from tests.measurements.matrices import iso_z as iso
from tests.measurements.reports import report_of, sent, window_start, window_starts
from tests.measurements.worlds import simple
from tests.processes import away
from tests.terminal import api, serving
from tests.waits import WAIT_MOST_S, until


@pytest.fixture
def server(database, redis) -> Iterator[str]:
    """The address of an API in this process, on a real socket."""
    with serving(api()) as (host, port):
        yield f"http://{host}:{port}"


class Stream:
    """Events of a stream, read by a thread."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        self.events: list[dict[str, object]] = []
        self.names: list[str] = []
        self.last_id = ""
        self.lines: list[str] = []
        self.answer: httpx2.Response | None = None
        self.opened = threading.Event()
        self.ended = threading.Event()
        self._client = httpx2.Client(timeout=WAIT_MOST_S)
        self._thread = threading.Thread(target=self._read, args=(url, headers), daemon=True)
        self._thread.start()
        assert self.opened.wait(WAIT_MOST_S)

    def _read(self, url: str, headers: dict[str, str]) -> None:
        try:
            with self._client.stream("GET", url, headers=headers) as answer:
                self.answer = answer
                assert answer.headers["content-type"].startswith("text/event-stream")
                for line in answer.iter_lines():
                    self.lines.append(line)
                    if line == ": listening":
                        self.opened.set()
                    if line.startswith("id: "):
                        self.last_id = line.removeprefix("id: ")
                    if line.startswith("event: "):
                        self.names.append(line.removeprefix("event: "))
                    if line.startswith("data: "):
                        self.events.append(json.loads(line.removeprefix("data: ")))
        except (httpx2.HTTPError, RuntimeError, OSError):
            pass  # closed by the test
        finally:
            self.ended.set()

    def wait_for(self, count: int) -> list[dict[str, object]]:
        until(lambda: len(self.events) >= count, lambda: f"{count} events: {self.events}")
        return self.events

    def close(self) -> None:
        self._client.close()


@contextmanager
def listening(server: str, mesh: MeshWorld, **headers: str) -> Iterator[Stream]:
    cookies = "; ".join(f"{name}={value}" for name, value in mesh.owner.cookies.items())
    stream = Stream(f"{server}/v1/meshes/{mesh.id}/live", {"Cookie": cookies, **headers})
    try:
        yield stream
    finally:
        stream.close()
    text = "\n".join(stream.lines)
    seen = httpx2.Response(stream.answer.status_code, headers=stream.answer.headers, text=text)
    mesh.owner.http.recorder.see(stream.answer.request, seen)  # type: ignore[attr-defined]


def report_published(redis, mesh: MeshWorld, started_at_s: int) -> None:
    """Let one agent report a window, and wait until it is an entry of the mesh's stream."""
    key = f"sinemora:events:{mesh.id}"
    entries = redis.xlen(key)
    sent(mesh.agents[0], report_of(mesh.key, {mesh.agents[1].vm_key: simple(50_000)}, started_at_s))
    until(lambda: redis.xlen(key) > entries)


def report_all(mesh: MeshWorld, started_at_s: int) -> None:
    for n, agent in enumerate(mesh.agents[:2]):
        sent(agent, report_of(mesh.key, {peer.vm_key: simple(50_000) for peer in mesh.agents[n + 1 :]}, started_at_s))


def test_agents_that_report_one_after_the_other_are_one_event(server, mesh, monkeypatch):
    monkeypatch.setattr(hub, "QUIET_S", 2.0)  # longer than a busy machine takes from one report to the next
    monkeypatch.setattr(hub, "LONGEST_WAIT_S", 60.0)
    with listening(server, mesh) as stream:
        started = window_start()
        report_all(mesh, started)
        (event,) = stream.wait_for(1)
        revision = mesh.owner.get(f"/v1/meshes/{mesh.id}/roster").json()["revision"]
        assert event["window_s"] == 10
        assert event["revision"] == revision
        assert event["started_at"] == iso(started)
        report_all(mesh, started - 10)
        assert starts_after(stream, 2) == [iso(started), iso(started - 10)]


def test_other_meshes_are_not_heard(server, mesh, redis, make_mesh, other_owner):
    other = make_mesh(other_owner, 2)
    with listening(server, mesh) as stream, listening(server, other) as elsewhere:
        start = window_starts(range(3))
        report_published(redis, other, start[2])
        assert starts_after(elsewhere, 1) == [iso(start[2])]
        report_published(redis, mesh, start[1])
        assert starts_after(stream, 1) == [iso(start[1])]


@pytest.mark.parametrize("how", ["removed", "switched"])
def test_a_stream_ends_with_the_membership(server, mesh, other_owner: Member, monkeypatch, how: str):
    monkeypatch.setattr(hub, "CHECK_S", 0.2)
    member = join(mesh.owner, "viewer")
    accept_too(other_owner, member)
    with listening(server, MeshWorld(member, mesh.id, mesh.key, mesh.name, mesh.agents)) as stream:
        assert not stream.ended.wait(1)
        if how == "removed":
            assert mesh.owner.delete(f"/v1/members/{member.user_id}").status_code == 204
        else:  # the session is as valid as before, but for another tenant
            assert member.post(f"/v1/tenants/{other_owner.tenant_id}/switch").status_code == 204
        assert stream.ended.wait(WAIT_MOST_S)


def test_streams_hold_no_database_connection(server, mesh):
    with listening(server, mesh), listening(server, mesh), listening(server, mesh):
        pools = [one().pool for one in (db.engine, db.system_engine)]
        until(lambda: [pool.checkedout() for pool in pools] == [0, 0], "no connection in use")  # type: ignore[attr-defined]


@pytest.mark.parametrize("retry_s", [0.05, 4.0], ids=["hub_first", "publisher_first"])
def test_a_restart_of_valkey_is_survived(server, mesh, redis, servers, monkeypatch, retry_s: float):
    monkeypatch.setattr(hub, "_BACK_OFF_S", (retry_s, retry_s))
    with listening(server, mesh) as stream:
        report_published(redis, mesh, heard := window_start(4))
        assert starts_after(stream, 1) == [iso(heard)]
        missed = window_start(2)
        with away(servers.valkey):
            report_all(mesh, missed)  # acknowledged all the same
        # The windows before the restart are lost with it. The one that was stored meanwhile is published now, as an
        # event or, if it was published before the hub was back, as part of what the reset asks to be read again.
        until(lambda: "reset" in stream.names and is_caught_up(redis, mesh, stream), lambda: str(stream.lines))
        assert set(starts(stream)) <= {iso(heard), iso(missed)}


def is_caught_up(redis, mesh: MeshWorld, stream: Stream) -> bool:
    """Return True if the stream got the id of the newest entry, and there is one."""
    entries = redis.xrevrange(f"sinemora:events:{mesh.id}", count=1)
    return bool(entries) and stream.last_id == entries[0][0]


def resumed(last_id: str) -> dict[str, str]:
    return {"Last-Event-ID": last_id}


def starts(stream: Stream) -> list[str]:
    return [str(event["started_at"]) for event in stream.events if "started_at" in event]


def starts_after(stream: Stream, count: int) -> list[str]:
    """Return the starts of the windows of a stream once it has so many events."""
    stream.wait_for(count)
    return starts(stream)


def test_who_was_away_hears_what_it_missed_each_window_once(server, mesh, redis):
    start = window_starts(range(6))
    report_published(redis, mesh, start[5])
    with listening(server, mesh) as stream:  # it knows from where before the first event
        heard = stream.last_id
        assert stream.events == []
    for ago in (4, 3, 2):
        report_published(redis, mesh, start[ago])
    with listening(server, mesh, **resumed(heard)) as stream:
        assert starts_after(stream, 3) == [iso(start[ago]) for ago in (4, 3, 2)]
        report_published(redis, mesh, start[1])
        assert starts_after(stream, 4)[3:] == [iso(start[1])]
        assert stream.names == ["window"] * 4
        heard = stream.last_id
    report_published(redis, mesh, start[0])
    with listening(server, mesh, **resumed(heard)) as stream:  # nothing else comes before it
        assert starts_after(stream, 1) == [iso(start[0])]


@pytest.mark.parametrize("lost", ["trimmed", "restarted", "nonsense"])
def test_what_cannot_be_told_again_is_said(server, mesh, redis, lost):
    with listening(server, mesh) as stream:
        report_published(redis, mesh, window_start(5))
        stream.wait_for(1)
        heard = stream.last_id
    report_published(redis, mesh, window_start(4))
    match lost:
        case "trimmed":
            redis.xtrim(f"sinemora:events:{mesh.id}", maxlen=1, approximate=False)
        case "restarted":
            redis.flushall()
        case _:
            heard = "yesterday"
    with listening(server, mesh, **resumed(heard)) as stream:
        stream.wait_for(1)
        assert stream.names[0] == "reset"
        report_published(redis, mesh, last := window_start(3))
        until(lambda: iso(last) in starts(stream), lambda: f"the last window: {stream.events}")
    # The hub may have held the window before, for other agents' reports, and announces it to whoever listens then.
    assert starts(stream) in ([iso(last)], [iso(window_start(4)), iso(last)])
    assert stream.names == ["reset"] + ["window"] * len(starts(stream))
