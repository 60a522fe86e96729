"""VMs of a tenant in namespaces: real servers, their clients and noise, and agents that report to a real product.

`running` starts all of it. Applications are stars and graphs; noise is a monitoring that asks every VM, a person who
logs in to each, and a port scanner. What runs where is known, and clients move.
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from lab import embedded_product
from lab.benchmarks.agent_process import command_of
from lab.embedded_product import EMAIL
from lab.soak.readers import Person
from sinemora.labs.profiler.recipes import RECIPES, ProfileError, resolved

from agents import BINARY, HERE
from laboratory import Host, Lab, Process, wait_until

EXPORTER_PORT, SHELL_PORT = 9100, 22
_STARTED_S = 240.0
# A round of training is as fast as the processor; so slow a network leaves it to the others.
_SLOW = ("rate", "400kbit", "burst", "4000", "limit", "20000")


@dataclass(frozen=True)
class Application:
    """Servers of one port and the VMs that use all of them. `recipe`: the profiler's, which has the servers."""

    name: str
    recipe: str
    port: int
    servers: tuple[str, ...]
    clients: tuple[str, ...]


def _application(name: str, recipe: str, port: int, servers: int, clients: int) -> Application:
    ends = (
        tuple(f"{name}-{kind}{number}" for number in range(1, many + 1))
        for kind, many in (("s", servers), ("c", clients))
    )
    return Application(name, recipe, port, *ends)


APPLICATIONS = (
    _application("cache", "memcached", 11_211, 1, 4),
    _application("web", "http", 8080, 1, 3),
    _application("names", "dns", 53, 1, 3),
    _application("train", "training", 9090, 2, 3),
    _application("shard", "memcached", 11_211, 2, 4),
)
MONITOR, ADMIN, SCANNER = "monitor", "admin", "scanner"
_USED = [name for one in APPLICATIONS for name in (*one.servers, *one.clients)]
NAMES = (*_USED, MONITOR, ADMIN, SCANNER)


@dataclass
class World:
    """Hosts of VMs by name, and the processes of clients by application and host."""

    person: Person
    mesh_id: str
    hosts: dict[str, Host]
    _clients: dict[tuple[str, str], list[Process]] = field(default_factory=dict)

    def start_client(self, application: Application, name: str) -> None:
        """Let a VM use all servers of an application."""
        kind, port = application.recipe, application.port
        servers = [self.hosts[server].address for server in application.servers]
        started = [_client(self.hosts[name], kind, server, port) for server in servers]
        self._clients[application.name, name] = started

    def stop_client(self, application: Application, name: str) -> None:
        """End what a VM uses of an application."""
        for process in self._clients.pop((application.name, name)):
            process.stop()


@contextmanager
def running() -> Iterator[World]:
    """Start product, VMs, servers, clients and noise; stop all of it afterwards. LabError for what is missing."""
    with ExitStack() as ends:
        product = ends.enter_context(embedded_product.running("traffic", 0, SINEMORA_DEMO_STORY="off"))
        product.until_up(_STARTED_S)
        lab = ends.enter_context(Lab())
        outside = str(lab.folder / "product.sock")
        relay = Process(
            [sys.executable, HERE / "relay.py", outside, f"127.0.0.1:{product.port}"], lab.folder / "relay.log"
        )
        ends.callback(relay.stop)
        relay.require("the relay", "relaying")
        inside = lab.start([sys.executable, HERE / "relay.py", f"{lab.gateway}:8420", outside], "relay")
        inside.require("the relay", "relaying")
        person = Person(product.address, EMAIL)
        mesh = _done(person, "POST", "/v1/meshes", {"name": "traffic", "rate_hz": 1})["id"]
        tenant = next(one for one in _done(person, "GET", "/v1/tenants")["items"] if one["is_current"])
        _done(person, "PUT", f"/v1/tenants/{tenant['id']}", {"service_traffic": True})
        token = _done(person, "POST", "/v1/enrolment-tokens", {"mesh_id": mesh, "max_uses": len(NAMES)})["token"]
        world = World(person, mesh, {name: lab.host(name) for name in NAMES})
        for agent in [_agent(lab, host, token) for host in world.hosts.values()]:
            agent.require("its plan", "new plan")
        _begin(world)
        yield world


def _agent(lab: Lab, host: Host, token: str) -> Process:
    state = lab.folder / f"state-{host.name}"
    state.mkdir(mode=0o700)
    options = {
        **{"backend": f"http://{lab.gateway}:8420", "token": token, "name": host.name, "state_dir": state},
        **{"listen_address": host.address, "cloud_metadata": "off", "log_level": "info"},
        # The exporter that the monitoring asks.
        "metrics_listen": f"{host.address}:{EXPORTER_PORT}",
    }
    return host.start(command_of(BINARY, **options), "agent")


def _begin(world: World) -> None:
    """Start servers, clients and noise."""
    for application in APPLICATIONS:
        for name in application.servers:
            _serve(world.hosts[name], application)
        for name in application.clients:
            world.start_client(application, name)
    addresses = ",".join(host.address for host in world.hosts.values())
    for host in world.hosts.values():
        _client(host, "shells", host.address, SHELL_PORT)
    for name, kind, port in ((MONITOR, "metrics", EXPORTER_PORT), (ADMIN, "shell", SHELL_PORT), (SCANNER, "scan", 0)):
        _client(world.hosts[name], kind, addresses, port)


def _client(host: Host, kind: str, addresses: str, port: int) -> Process:
    return host.start([sys.executable, HERE / "traffic_client.py", kind, addresses, str(port)], f"{kind}-client")


def _serve(host: Host, application: Application) -> None:
    """Start a server of the profiler's recipe, and wait until it listens."""
    try:
        recipe = resolved(RECIPES[application.recipe])
    except ProfileError:
        recipe = RECIPES[application.recipe]  # its benchmark is missing, which clients here replace
    folder = host.lab.folder / f"server-{host.name}"
    folder.mkdir()
    # memcached runs as root, as all in the user namespace, only with this option.
    words = {"address": host.address, "port": str(application.port), "user": "root", "folder": str(folder)}
    for name, content in recipe.files:
        for key, value in words.items():
            content = content.replace(f"{{{key}}}", value)
        (folder / name).write_text(content)
    assert recipe.server is not None
    if application.recipe == "training":
        host.run("tc", "qdisc", "add", "dev", "e0", "root", "tbf", *_SLOW)
    server = host.start([word.format(**words) for word in recipe.server], application.recipe)
    listens = f"{host.address}:{application.port}"
    wait_until(f"{application.name} at {listens}\n{server.output()}", lambda: listens in host.run("ss", "-Hltn"))


def _done(person: Person, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    answer = person.http.request(method, path, json=body)
    answer.raise_for_status()
    return answer.json()
