"""A separate product for benchmarks: embedded servers, migrated, one API process on a free loopback port."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx2
import psutil

from lab.waits import until
from sinemora import migrate, tables
from sinemora.access.api_keys.models import ApiKey
from sinemora.access.signin.sessions import Browser, open_session
from sinemora.access.tenants.access import CSRF_HEADER, SESSION_COOKIE, cookie_name
from sinemora.access.tenants.models import Membership, Method, Role, User
from sinemora.access.tenants.service import create_owner
from sinemora.fleet.inventory.models import Agent, Vm, Zone
from sinemora.fleet.meshes.models import Mesh, MeshVm
from sinemora.kit.config import Settings, settings
from sinemora.kit.db import dispose, engine, system_engine, system_session, tenant_session
from sinemora.kit.security import csrf_token, digest
from sinemora.operations.embedded.servers.postgres import OWNER_ROLE, SYSTEM_ROLE, PostgresServer
from sinemora.operations.embedded.servers.valkey import ValkeyServer
from sinemora.operations.embedded.services import answers

assert tables  # models of all features, so that relationships between them resolve
ZONES = 8
OWNER = "bench@sinemora.example"


@dataclass(frozen=True)
class World:
    """A mesh with an agent on every VM; `credentials` and `vm_keys` in the order of their keys."""

    mesh_id: UUID
    mesh_key: int
    tenant_key: int
    vm_keys: list[int]
    vm_ids: list[UUID]
    credentials: list[str]


@dataclass
class Product:
    """A running product, its owner's password and an API key with read scope."""

    port: int
    tenant_id: UUID
    password: str
    secret: str
    postgres: PostgresServer
    log: Path
    api: subprocess.Popen[bytes]
    writing: str = ""

    @property
    def postmaster(self) -> int:
        """Return the id of the first process of the database."""
        return int((self.postgres.cluster / "postmaster.pid").read_text().split()[0])

    def restart(self) -> None:
        """End the API and start a new process of it, which has answered nothing but that it is ready."""
        self.stop()
        self.api = serve(self.log)
        self.wait()

    def stop(self) -> None:
        """End the API."""
        self.api.terminate()
        self.api.wait(20)

    @contextmanager
    def replica(self) -> Iterator["Product"]:
        """Run a further API process of the product meanwhile, on another port, as the chart's replicas are."""
        port = free_port()
        other = replace(self, port=port, api=serve(self.log, port))
        try:
            other.wait()
            yield other
        finally:
            other.stop()

    def wait(self) -> None:
        """Return when the API is ready. AssertionError with its log if it does not start."""

        def ready() -> bool:
            assert self.api.poll() is None, f"the API ended:\n{self.log.read_text()[-2000:]}"
            return answers(self.url("/readyz"))

        until(ready, lambda: f"the API starts:\n{self.log.read_text()[-2000:]}", 240)

    def url(self, path: str) -> str:
        """Return an address of the API."""
        return f"http://127.0.0.1:{self.port}{path}"

    def get(self, path: str, accept: str = "application/octet-stream") -> bytes:
        """Return the body of a GET; raises on anything but success."""
        request = urllib.request.Request(
            self.url(path), headers={"Authorization": f"Bearer {self.secret}", "Accept": accept}
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            body: bytes = answer.read()
        return body

    def call(self, method: str, path: str, body: object = None, etag: str | None = None) -> tuple[int, Any]:
        """Send a request with a key that may write; return the status and the JSON of the answer."""
        self.writing = self.writing or key_of(self.tenant_id, "write")
        headers = {"Authorization": f"Bearer {self.writing}"} | ({} if etag is None else {"If-Match": etag})
        answer = httpx2.request(method, self.url(path), json=body, headers=headers, timeout=60)
        return answer.status_code, answer.json() if answer.content else None

    def rss_kb(self) -> int:
        """Return the resident memory of the API."""
        return psutil.Process(self.api.pid).memory_info().rss // 1024

    def cpu_s(self) -> float:
        """Return the processor time of the API."""
        times = psutil.Process(self.api.pid).cpu_times()
        return float(times.user + times.system)

    def database_cpu_s(self) -> float:
        """Return the processor time of PostgreSQL, ended processes included."""
        return _with_children_s(self.postmaster)

    def world(self, name: str, vms: int, zones: int = ZONES) -> World:
        """Return a mesh of `vms` VMs, every `zones`-th in the same zone."""
        return make_world(self.tenant_id, name, vms, zones)


def _with_children_s(pid: int) -> float:
    """Return the processor time of a process and its children, ended ones included."""
    server = psutil.Process(pid)
    while True:
        try:
            children = [child.cpu_times() for child in server.children()]
        except psutil.NoSuchProcess:  # one ended meanwhile; now it counts among those that have ended
            continue
        times = server.cpu_times()
        ended_s = times.children_user + times.children_system
        return float(ended_s + sum(each.user + each.system for each in (times, *children)))


@contextmanager
def running(**more: str) -> Iterator[Product]:
    """Start a product in a temporary folder; stop it and delete the folder afterwards.

    `more` are further settings by name, without `SINEMORA_`.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # clean up even when terminated
    folder = Path(tempfile.mkdtemp(prefix="sinemora-bench-"))
    postgres, valkey = PostgresServer(folder), ValkeyServer(folder)
    postgres.prepare()
    postgres.start()
    product = None
    try:
        postgres.provision()
        valkey.prepare()
        valkey.start()
        for name in [name for name in os.environ if name.startswith("SINEMORA_")]:
            del os.environ[name]
        Settings.model_config["env_file"] = None
        port = free_port()
        os.environ |= {
            "SINEMORA_DATABASE_URL": postgres.dsn(),
            "SINEMORA_DATABASE_OWNER_URL": postgres.dsn(OWNER_ROLE),
            "SINEMORA_DATABASE_SYSTEM_URL": postgres.dsn(SYSTEM_ROLE),
            "SINEMORA_REDIS_URL": valkey.url(),
            "SINEMORA_PORT": str(port),
            "SINEMORA_QUOTA_WINDOWS_PER_S": "1e9",
            "SINEMORA_RATE_LIMIT_PER_MINUTE": "1000000",
            "SINEMORA_TENANT_LIMIT_PER_MINUTE": "100000000",
            "SINEMORA_LOG_LEVEL": "warning",
            # What a benchmark measures begins in the first minutes of its mesh.
            "SINEMORA_ALERT_SETTLING_S": "0",
            **{f"SINEMORA_{name.upper()}": value for name, value in more.items()},
        }
        for cached in (settings, engine, system_engine):
            cached.cache_clear()
        migrate.upgrade()
        password = secrets.token_urlsafe(12)
        owner = create_owner("Bench", OWNER, password)
        secret = key_of(owner.tenant_id, "read")
        log = folder / "api.log"
        product = Product(port, owner.tenant_id, password, secret, postgres, log, serve(log))
        product.wait()
        yield product
    finally:
        if product is not None:
            product.stop()
        dispose()
        valkey.stop()
        postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)


def make_world(tenant_id: UUID, name: str, vms: int, zones: int = ZONES) -> World:
    """Create a mesh of `vms` VMs in the database of the settings, every `zones`-th in the same zone."""
    words = [f"sma_{secrets.token_urlsafe(24)}" for _ in range(vms)]
    ports, described = {"event_port": 319, "general_port": 320}, {"agent_version": "0.1.0", "description": {}}
    with tenant_session(tenant_id) as session:
        places = [Zone(provider="bench", region="r", name=f"{name}-z{i}") for i in range(zones)]
        mesh = Mesh(name=name, window_s=10, rate_hz=1, flows=1)
        session.add_all([*places, mesh])
        session.flush()
        machines = [
            Vm(zone_id=places[i % zones].id, name=f"{name}-{i:04}", probe_address=_address(i), **ports)
            for i in range(vms)
        ]
        session.add_all(machines)
        session.flush()
        session.add_all([MeshVm(mesh_id=mesh.id, vm_id=vm.id) for vm in machines])
        session.add_all(
            Agent(vm_id=vm.id, credential_prefix=word[:8], credential_digest=digest(word), **described)
            for vm, word in zip(machines, words, strict=True)
        )
        session.flush()
        for row in (mesh, *machines):
            session.refresh(row, ["key"])
        order = sorted(range(vms), key=lambda i: machines[i].key)
        keys, ids = [machines[i].key for i in order], [machines[i].id for i in order]
        return World(mesh.id, mesh.key, session.info["tenant_key"], keys, ids, [words[i] for i in order])


def _address(number: int) -> str:
    return f"10.{number // 65536}.{number // 256 % 256}.{number % 256}"


def key_of(tenant_id: UUID, scope: str) -> str:
    """Return the secret of a new API key of a tenant, valid for a day."""
    secret = f"sm_{secrets.token_urlsafe(24)}"
    with tenant_session(tenant_id) as session:
        key = ApiKey(name=f"bench {secret[3:9]}", prefix=secret[:8], secret_digest=digest(secret), scopes=[scope])
        key.expires_at = datetime.now(UTC) + timedelta(days=1)
        session.add(key)
    return secret


def session_of(tenant_id: UUID, role: Role) -> list[tuple[str, str]]:
    """Return the headers of a new person who has just signed in with a role and a second factor."""
    with system_session() as session:
        user = User(email=f"{uuid4().hex[:12]}@bench.example", password_hash="no password")
        session.add(user)
        session.flush()
        member = Membership(tenant_id=tenant_id, user_id=user.id, role=role)
        session.add(member)
        browser = Browser("127.0.0.1", "bench")
        opened = open_session(session, user, member, browser, Method.password, second_factor=True, known=True)
    return [("cookie", f"{cookie_name(SESSION_COOKIE)}={opened.secret}"), (CSRF_HEADER, csrf_token(opened.secret))]


def serve(log: Path, port: int | None = None) -> subprocess.Popen[bytes]:
    """Start the API, on `port` or that of the settings; it appends to `log`."""
    env = os.environ if port is None else os.environ | {"SINEMORA_PORT": str(port)}
    with log.open("ab") as out:
        return subprocess.Popen([sys.executable, "-m", "sinemora.cli", "serve"], stdout=out, stderr=out, env=env)


def free_port() -> int:
    """Return a port of loopback that nothing uses."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
