"""A running product that faults disturb, and a small tenant whose slow paths have to be notified."""

import os
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

import httpx2

from lab import embedded_product
from lab.benchmarks.alerting.stack import Listener, fire_at_once
from lab.benchmarks.figures import comment
from lab.benchmarks.storing.product import World, key_of, make_world
from lab.embedded_product import EmbeddedProduct
from lab.proxy_stand import Stand
from lab.soak import store
from lab.soak.fleet import Fleet, Record
from lab.soak.product_faults import Disk, small_disk
from lab.soak.readers import Reader
from lab.soak.senders import FaultyFleet
from sinemora.access.tenants.service import create_owner
from sinemora.alerts.rules.service import create_default_rules
from sinemora.kit.config import Settings
from sinemora.kit.db import dispose, tenant_session
from sinemora.operations.embedded.services import use_settings_of
from sinemora_client.commands import Terminal

_SMALL_VMS = 8
"""VMs of the small tenant. Each trial has a path of its own: one that returns before its end was told has no notice."""
_STEADY_VMS, _BEHIND_VMS, _BURST_VMS = 10, 3, 50
_SETTLED_S = 35.0
_STARTED_S = 600.0
QUEUE_REPORTS = 100
"""Size of the API's queue of reports. The default of 2,000 takes as many connections to fill."""
OWNER = "small@sinemora.example"
"""The owner of the small tenant, with the password of the demonstration's."""


@dataclass
class Day:
    """Parts of a day. Ten VMs of `steady` send old windows, three of `behind` through the gateway.

    `burst` and `wrong` are for faults; `readers` are people at the console, of a soak. `samples`: status of /readyz
    each second, empty without an answer. `disk`: that of the data folder alone. `lost`: acknowledged windows that were
    found not to be stored.
    """

    product: EmbeddedProduct
    listener: Listener
    worlds: dict[str, World]
    small: FaultyFleet
    fleets: dict[str, Fleet]
    disk: Disk | None
    ends: ExitStack
    entrances: list[tuple[str, httpx2.Client]]
    stand: Stand | None = None
    samples: list[tuple[float, str]] = field(default_factory=list)
    burst: Record = field(default_factory=Record)
    wrong: list[str] = field(default_factory=list)
    readers: list[Reader] = field(default_factory=list)
    trials: int = 0
    lost: set[tuple[str, int, int]] = field(default_factory=set)

    def terminal(self, tenant_id: UUID) -> Terminal:
        """Return a client of the API for a tenant."""
        return Terminal(self.product.address, key_of(tenant_id, "write"))

    def tenant(self, name: str) -> UUID:
        """Create a tenant."""
        mark = f"{name}-{uuid4().hex[:6]}"
        return create_owner(mark, f"{mark}@sinemora.example", embedded_product.PASSWORD).tenant_id

    def newly_lost(self) -> int:
        """Return the number of acknowledged windows that are not stored, without those returned before."""
        books = self.records().items()
        lost = {(name, *one) for name, book in books for one in store.missing(self.worlds[name], [*book.acknowledged])}
        found = len(lost - self.lost)
        self.lost |= lost
        return found

    def records(self) -> dict[str, Record]:
        """Return what became of the reports of each mesh."""
        return {name: each.record for name, each in self.fleets.items()} | {"burst": self.burst}


@contextmanager
def day(*, on_small_disk: bool = True, agents: int = 0, every_s: float = 1.0) -> Iterator[Day]:
    """Start a product, on a separate disk if possible, and the small tenant; stop all of it afterwards.

    `agents` measure a demonstration mesh; VMs that send old windows send one each `every_s`.
    """
    with ExitStack() as ends:
        disk = ends.enter_context(small_disk()) if on_small_disk else None
        if on_small_disk and disk is None:
            comment("not tried: faults of a disk, which take root and a loop device")
        listener = Listener()
        ends.callback(listener.close)
        settings = {
            "SINEMORA_RECEIVER_NETWORKS": "127.0.0.0/8",
            "SINEMORA_ALERT_SETTLING_S": "0",
            "SINEMORA_INGEST_QUEUE_REPORTS": str(QUEUE_REPORTS),
            "SINEMORA_DEMO_STORY": "off",
        }
        place = disk.folder if disk else None
        product = ends.enter_context(embedded_product.running("day", agents, place, **settings))
        product.until_up(_STARTED_S)
        product.until(lambda: product.child("gateway").get("state") == "up", "the gateway serves", _STARTED_S)
        ends.callback(dispose)
        use_settings(product)
        tenant_id = create_owner("Small", OWNER, embedded_product.PASSWORD).tenant_id
        sizes = {"small": _SMALL_VMS, "steady": _STEADY_VMS, "behind": _BEHIND_VMS, "burst": _BURST_VMS}
        worlds = {name: make_world(tenant_id, name, size, zones=3) for name, size in sizes.items()}
        watch(product, tenant_id, worlds["small"], listener)
        small = FaultyFleet(product.port, worlds["small"])
        tls, gateway_port = _gateway(product.folder.path / "gateway")
        fleets = {
            "small": small,
            "steady": Fleet(product.port, worlds["steady"], every_s, int(time.time()) - 7200),
            "behind": Fleet(gateway_port, worlds["behind"], every_s, reconnect=True, tls=tls),
        }
        entrances = [(product.address, http()), (f"https://127.0.0.1:{gateway_port}", http(tls))]
        running = Day(product, listener, worlds, small, fleets, disk, ends, entrances)
        for fleet in fleets.values():
            fleet.start()
            ends.callback(fleet.stop, give_up=True)
        ends.enter_context(_sampled(running))
        time.sleep(_SETTLED_S)
        yield running


def use_settings(product: EmbeddedProduct) -> None:
    """Give this process the product's settings, so that meshes are created in its database."""
    for name in [name for name in os.environ if name.startswith(("SINEMORA_", "PG"))]:
        del os.environ[name]
    os.environ |= {name: value for name, value in product.env.items() if name.startswith("SINEMORA_")}
    use_settings_of(Settings(), product.folder)


def _gateway(files: Path) -> tuple[ssl.SSLContext, int]:
    """Return what knows the certificate of the product's gateway, and its port."""
    tls = ssl.create_default_context(cafile=str(files / "certificate.pem"))
    tls.check_hostname = False
    return tls, int((files / "port").read_text())


def http(verify: ssl.SSLContext | bool = True) -> httpx2.Client:
    """Return a client that opens a connection for each request."""
    limits = httpx2.Limits(max_keepalive_connections=0)
    return httpx2.Client(timeout=5, trust_env=False, limits=limits, verify=verify)


def watch(product: EmbeddedProduct, tenant_id: UUID, world: World, listener: Listener) -> None:
    """Give a mesh a rule that fires on one slow window, and a receiver of its notices."""
    with tenant_session(tenant_id) as session:
        create_default_rules(session, world.mesh_id)
        listener.add_as_receiver(session)
    fire_at_once(Terminal(product.address, key_of(tenant_id, "write")), world.mesh_id, severity="critical")


@contextmanager
def _sampled(running: Day) -> Iterator[None]:
    """Read the status of /readyz every second, at each entrance: the first that is not ready."""
    ended = threading.Event()

    def sample() -> None:
        while not ended.wait(1.0):
            statuses = [_readiness(address, http) for address, http in running.entrances]
            running.samples.append((time.time(), next((one for one in statuses if one != "ready"), "ready")))

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    yield
    ended.set()
    thread.join(30)


def _readiness(address: str, http: httpx2.Client) -> str:
    """Return the status of /readyz, empty without an answer."""
    try:
        status: str = http.get(f"{address}/readyz").json()["status"]
    except (httpx2.HTTPError, ValueError, KeyError):
        return ""
    return status
