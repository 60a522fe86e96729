"""kill -9 of every process in turn while agents measure, a restart of the database, and hundreds of bodies that are no
reports: all come back, nothing acknowledged is lost, nothing is stored twice. `replace` refuses no connection. What
happened is counted and printed.
"""

import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import httpx2
import psycopg
import pytest
from fastapi.testclient import TestClient

from lab.embedded_product import EMAIL, PASSWORD, EmbeddedProduct, running
from lab.soak.fleet import Fleet, Record
from sinemora.operations.embedded.data_folder import checkout
from sinemora.operations.embedded.replacing import program_of
from sinemora.operations.embedded.servers.postgres import SUPERUSER, PostgresServer
from tests import api_clients
from tests.api_clients import AgentCaller, Member
from tests.fleets import fleet_of
from tests.processes import mentioning
from tests.seeds import examples
from tests.waits import WAIT_MOST_S

AGENTS = 3
WINDOW_S = 2
REPLACED = ("template", "api", "gateway", "watcher", "notifier", "worker", "mover", "solver", "beat")
VICTIMS = ("api", "worker", "template", "postgres", "valkey")
BODIES = examples(1000)
_AGENT = (checkout() or Path()) / "agent" / "target" / "debug" / "sinemora-agent"

pytestmark = pytest.mark.skipif(not _AGENT.is_file(), reason="the agent is not built (make setup)")


@pytest.fixture
def product() -> Iterator[EmbeddedProduct]:
    with running("durability", AGENTS) as product:
        yield product


@pytest.fixture
def http(product: EmbeddedProduct) -> Iterator[TestClient]:
    product.until_up()
    with httpx2.Client(base_url=product.address, trust_env=False) as client:
        yield cast(TestClient, client)  # the callers use what the two have in common


@pytest.fixture
def owner(http: TestClient) -> Member:
    return api_clients.sign_in(http, EMAIL, PASSWORD)


def test_every_process_may_be_killed_and_nothing_acknowledged_is_lost(
    product: EmbeddedProduct, http: TestClient, owner: Member, capsys: pytest.CaptureFixture[str]
) -> None:
    demo = next(mesh for mesh in owner.get("/v1/meshes").json()["items"] if mesh["name"] == "demo")
    assert owner.patch(f"/v1/meshes/{demo['id']}", json={"window_s": WINDOW_S}).status_code == 200
    assert "complete" in product.do("wait")
    world = api_clients.make_mesh(owner, 3, "reporting", window_s=10)
    fleet = fleet_of(world, product.port)[1].start()
    product.until(lambda: bool(_windows(product, demo["key"], WINDOW_S)), "the agents follow the changed plan")
    time.sleep(2 * WINDOW_S)
    began_at = time.time()
    refused = _send_what_is_no_report(product, world.agents[1])
    _replace(product, fleet)
    for victim in VICTIMS:
        _reports_go_on(product, fleet)
        _kill(product, victim)
        if victim in ("api", "worker"):  # is back at once: as a fork of what is loaded
            assert program_of(product.child(victim)["pid"]) == program_of(product.child("template")["pid"])
    _reports_go_on(product, fleet)
    _kill(product, "postgres", signal.SIGINT)  # as an operator restarts it
    _reports_go_on(product, fleet)
    record = fleet.stop()
    assert "complete" in product.do("wait")
    time.sleep(2 * WINDOW_S)
    stored = _all_acknowledged_windows_are_stored_once(product, record, world.key)
    with capsys.disabled():
        print(
            f"\nkilled {', '.join(VICTIMS)}, database restarted:"
            f" {len(record.acknowledged)} windows acknowledged, {record.sent_again} of them sent again,"
            f" {len(record.failures)} attempts failed, {stored} windows stored, 0 lost, 0 twice;"
            f" of {BODIES} malformed bodies {refused}, no process died of them"
        )
    _no_window_of_the_agents_is_missing(product, demo["key"], began_at)
    product.do("down")
    assert product.process.wait(WAIT_MOST_S) == 0
    assert not mentioning(str(product.folder.path))


def _reports_go_on(product: EmbeddedProduct, fleet: Fleet) -> None:
    before = len(fleet.record.acknowledged)
    product.until(lambda: len(fleet.record.acknowledged) > before + 30, "reports are acknowledged")


def _send_what_is_no_report(product: EmbeddedProduct, agent: AgentCaller) -> dict[str, int]:
    """Send bodies a fuzzer made; how often each status came. Every one is refused with a problem document."""
    chance = random.Random(1)
    before = {name: product.child(name)["pid"] for name in VICTIMS}
    statuses: dict[str, int] = {}
    for _ in range(BODIES):
        body = chance.randbytes(chance.randrange(1, 600))
        kind = chance.choice(["application/x-protobuf", "application/json", "text/plain", "application/x-protobuf"])
        headers = {"Content-Type": kind, "Content-Encoding": chance.choice(["identity", "zstd", "gzip"])}
        if chance.random() < 0.3:
            body = b"\x28\xb5\x2f\xfd" + body  # begins like zstd
        answer = agent.post("/v1/agents/self/reports", content=body, headers=headers, timeout=60)
        assert 400 <= answer.status_code < 500, (answer.status_code, body)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"]
        statuses[str(answer.status_code)] = statuses.get(str(answer.status_code), 0) + 1
    assert {name: product.child(name)["pid"] for name in VICTIMS} == before
    return statuses


def _replace(product: EmbeddedProduct, fleet: Fleet) -> None:
    """Replace the programs, as after an upgrade, while reports go on: each begins again, no connection is refused."""
    _reports_go_on(product, fleet)
    replaced = [name for name in REPLACED if product.child(name)]  # a machine without a network has no gateway
    programs = {name: (product.child(name)["pid"], program_of(product.child(name)["pid"])) for name in replaced}
    printed = product.do("replace")
    assert [line.split()[0] for line in printed.splitlines()] == ["schema", *replaced]
    after = {name: (product.child(name)["pid"], program_of(product.child(name)["pid"])) for name in replaced}
    assert not [name for name in replaced if after[name] == programs[name]]
    assert after["api"][0] == programs["api"][0], "the API keeps its process, which holds the listening socket"
    _reports_go_on(product, fleet)
    assert fleet.record.refused_connections == 0


def _kill(product: EmbeddedProduct, name: str, how: signal.Signals = signal.SIGKILL) -> None:
    restarts = product.child(name)["restarts"] + 1
    product.kill(name, how)
    product.until(lambda: product.child(name).get("restarts", 0) >= restarts, f"{name} is started again")
    product.until(lambda: product.child(name)["state"] == "up", f"{name} is up again")
    product.until(product.is_ready, "the API is ready")


def _all_acknowledged_windows_are_stored_once(product: EmbeddedProduct, record: Record, mesh_key: int) -> int:
    """Check that every acknowledged window is stored once. Return the number of stored windows."""
    assert len(record.acknowledged) > 100
    assert record.sent_again > 0
    stored = _windows(product, mesh_key, 10)
    assert record.acknowledged.keys() - set(stored) == set()
    assert len(stored) == len(set(stored))
    return len(stored)


def _no_window_of_the_agents_is_missing(product: EmbeddedProduct, mesh_key: int, began_at: float) -> None:
    """Check that no stored window of the agents is missing: they continued to measure, spooled, and sent again."""
    rows = _windows(product, mesh_key, WINDOW_S)
    for vm_key in {vm_key for vm_key, _ in rows}:
        windows = sorted(at for key, at in rows if key == vm_key)
        assert windows == list(range(windows[0], windows[-1] + 1, WINDOW_S)), f"gaps of VM {vm_key}"
        assert windows[0] <= began_at
        assert windows[-1] > began_at + WINDOW_S


def _windows(product: EmbeddedProduct, mesh_key: int, window_s: int) -> list[tuple[int, int]]:
    """Return the client and start (Unix s) of every stored window of a mesh of this length."""
    with psycopg.connect(PostgresServer(product.folder.path).dsn(SUPERUSER)) as connection:
        return connection.execute(
            "SELECT vm_key, extract(epoch FROM started_at)::bigint FROM probe_frames"
            " WHERE mesh_key = %s AND window_s = %s",
            [mesh_key, window_s],
        ).fetchall()
