"""Other tenants that disturb a product, and clocks and processes that do: contexts, as the faults of a product are."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta

import httpx2
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key
from sqlalchemy import text

from lab import proxy_stand
from lab.benchmarks.storing.product import key_of, make_world
from lab.soak.day import Day, http
from lab.soak.fleet import Fleet
from lab.soak.product_faults import Lasts
from lab.soak.senders import LiveFleet, RepeatingFleet
from sinemora.alerts.rules.service import create_default_rules
from sinemora.kit.db import system_session, tenant_session

Answer = Callable[[socket.socket], None]
_PROXY_AWAY_S = 15.0


@contextmanager
def neighbours(running: Day, vms: int, meshes: int) -> Iterator[Lasts]:
    """Let another tenant have one large mesh or many small ones."""
    with ExitStack() as ends:
        tenant_id = running.tenant("neighbour")
        for number in range(meshes):
            world = make_world(tenant_id, f"many-{number}", vms, zones=3)
            with tenant_session(tenant_id) as session:
                create_default_rules(session, world.mesh_id)
            port = running.product.port
            fleet = LiveFleet(port, world) if meshes > 1 else RepeatingFleet(port, [world])
            ends.callback(fleet.stop, give_up=True)
            fleet.start()
        yield lambda: True


@contextmanager
def deletion(running: Day, vms: int) -> Iterator[Lasts]:
    """Load a tenant with windows of an hour, and delete it while rules are evaluated."""
    tenant_id = running.tenant("gone")
    old = Fleet(running.product.port, make_world(tenant_id, "gone", vms, zones=3), every_s=1.0).start()
    time.sleep(10)
    old.stop(give_up=True)
    with system_session() as session:
        session.execute(text("UPDATE tenants SET deletion_at = now() WHERE id = :id"), {"id": tenant_id})
    yield lambda: True


@contextmanager
def receiver_that(running: Day, answers: Answer) -> Iterator[Lasts]:
    """Let another tenant have a receiver that answers badly, with four notices for it."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=_answered, args=(server.accept()[0], answers), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        terminal = running.terminal(running.tenant("evil"))
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        receiver = terminal.read("/v1/receivers", {"name": "w", "kind": "webhook", "settings": {"url": url}})
        for _ in range(4):
            terminal.read(f"/v1/receivers/{receiver['id']}/tests", {})
        yield lambda: True


def _answered(connection: socket.socket, answers: Answer) -> None:
    with connection, suppress(OSError):
        connection.recv(65536)
        answers(connection)


def drip(connection: socket.socket) -> None:
    """Send a byte every eight seconds without end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n")
    while True:
        connection.sendall(b"x")
        time.sleep(8)


def slow(connection: socket.socket) -> None:
    """Succeed, in a minute."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n")
    for _ in range(14):
        time.sleep(5)
        connection.sendall(b"x")


def error_text(connection: socket.socket) -> None:
    """Fail with the status of a success."""
    text = b'{"ok": false, "error": "no such channel"}'
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))


@contextmanager
def evaluators(_: Day, number: int) -> Iterator[Lasts]:
    """Let more processes evaluate the same meshes at once."""
    command = [sys.executable, "-c", "from sinemora.alerts.detection import rounds; rounds.run(90)"]
    with ExitStack() as ends:
        for _number in range(number):
            ends.callback(subprocess.Popen(command).kill)
        yield lambda: True


@contextmanager
def ahead(running: Day) -> Iterator[Lasts]:
    """Let all newest windows of the small mesh lie an hour ahead: the clock of the backend was stepped back."""
    with system_session() as session:
        windows = "UPDATE path_latest SET started_at = started_at + interval '1 hour' WHERE mesh_key = :key"
        session.execute(text(windows), {"key": running.worlds["small"].mesh_key})
    yield lambda: False


def trace_of(lines: int) -> bytes:
    """Return a trace of yesterday, forty lines a second, as CSV."""
    base_s = int(time.time()) - 86_400
    rows = (f"{base_s + n // 40},v{n % 40},v{(n * 7 + 1) % 40},{100 + n % 50}" for n in range(lines))
    return "\n".join(["at,source,target,round_trip_us", *rows]).encode()


@contextmanager
def imports(running: Day, lines: int) -> Iterator[Lasts]:
    """Let another tenant import two traces at once."""
    body = trace_of(lines)
    tenant_id = running.tenant("imports")
    terminal, key = running.terminal(tenant_id), key_of(tenant_id, "write")
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "text/csv"}
    for number in range(2):
        mesh = terminal.read("/v1/meshes", {"name": f"import-{number}"})
        url = f"{running.product.address}/v1/meshes/{mesh['id']}/imports?kind=csv&times=keep"
        httpx2.post(url, content=body, headers=headers, timeout=120, trust_env=False).raise_for_status()
    yield lambda: True


@contextmanager
def proxy_gone(running: Day) -> Iterator[Lasts]:
    """Kill the proxy of the production stack, and start it again as an engine of containers does.

    Agents report through it from now on.
    """
    if running.stand is None:
        stand = running.stand = running.ends.enter_context(proxy_stand.running(running.product.port))
        world = running.worlds["proxied"] = make_world(running.tenant("proxied"), "proxied", 3, zones=3)
        fleet = running.fleets["proxied"] = Fleet(stand.port, world, reconnect=True).start()
        running.ends.callback(fleet.stop, give_up=True)
        running.entrances.append((f"http://127.0.0.1:{stand.port}", http()))
        while not fleet.record.acknowledged:
            time.sleep(0.1)
    running.stand.kill_proxy()
    began_s = time.monotonic()
    yield lambda: time.monotonic() - began_s < _PROXY_AWAY_S
    running.stand.start_proxy()


@contextmanager
def certificate_expired(running: Day) -> Iterator[Lasts]:
    """Let the gateway have a certificate that ended yesterday, of the same key, as if nobody had renewed it."""
    files = running.product.folder.path / "gateway"
    file, key = files / "certificate.pem", load_pem_private_key((files / "key.pem").read_bytes(), None)
    assert isinstance(key, EllipticCurvePrivateKey)
    good = file.read_bytes()
    name = x509.load_pem_x509_certificate(good).subject
    ended = datetime.now(UTC) - timedelta(days=1)
    number = x509.random_serial_number()
    begun = x509.CertificateBuilder(name, name, key.public_key(), number, ended - timedelta(days=90), ended)
    try:
        file.write_bytes(begun.sign(key, SHA256()).public_bytes(Encoding.PEM))
        yield lambda: True
    finally:
        file.write_bytes(good)


@contextmanager
def second_instance(running: Day) -> Iterator[Lasts]:
    """Start another product on the same data folder, which has to name the one that runs."""
    said = running.product.do("up")
    if "runs already" not in said:
        running.wrong.append(f"a second instance: {said!r}")
    yield lambda: False
