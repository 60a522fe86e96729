"""Everything that runs in a soak: product, object storage, gateway, fleets, readers."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from lab import embedded_product
from lab.benchmarks.storing.product import World, free_port, make_world
from lab.embedded_product import EMAIL, EmbeddedProduct
from lab.object_storage_server import ObjectStorageServer
from lab.soak import fleet
from lab.soak.fleet import Fleet
from lab.soak.gateway import Gateway
from lab.soak.readers import Person, Reader
from lab.soak.senders import LiveFleet
from sinemora.alerts.rules.service import create_default_rules
from sinemora.kit.config import Settings
from sinemora.kit.db import dispose, tenant_session
from sinemora.operations.embedded.first_run import owner_of_demonstration
from sinemora.operations.embedded.services import use_settings_of

QUEUE_REPORTS = 100
"""Size of the API's queue of reports. The default of 2,000 takes as many connections to fill."""
BURST_VMS = 50
SPOOLED_VMS = 10
SPOOLED_EVERY_S = 2.0
_SETTLE_S = 300.0
_HTTP = httpx2.Client(timeout=5, trust_env=False, limits=httpx2.Limits(max_keepalive_connections=0))


@dataclass
class Site:
    """Parts of a soak.

    `worlds`: meshes by their names. VMs of `direct` report to the API as windows end, those of `behind` to a gateway;
    `spooled` sends old windows, one a sender each 2 s; `burst` is for faults.
    """

    product: EmbeddedProduct
    storage: ObjectStorageServer
    gateway: Gateway
    worlds: dict[str, World]
    fleets: dict[str, Fleet]
    readers: list[Reader]
    burst: fleet.Record = field(default_factory=fleet.Record)
    wrong: list[str] = field(default_factory=list)

    @property
    def logs(self) -> list[Path]:
        """Return the folders with logs."""
        return [self.product.folder.logs, self.gateway.folder.parent]

    def pids(self) -> dict[str, int]:
        """Return the ids of the running processes, by name; agents and demonstration as well."""
        pids = {name: child["pid"] for name, child in self.product.children().items() if child["pid"]}
        process = self.gateway.process
        return pids if process is None else pids | {"gateway": process.pid}

    def records(self) -> dict[str, fleet.Record]:
        """Return what became of the reports of each mesh."""
        return {name: each.record for name, each in self.fleets.items()} | {"burst": self.burst}

    def works(self, since_at: float) -> bool:
        """Return whether all processes are up, no dependency is down, and reports and pages succeeded since a time."""
        return (
            all(child["state"] == "up" for child in self.product.children().values())
            and all(reader.seen.answered_at > since_at for reader in self.readers)
            and any(at > since_at for at, _ in reversed(self.fleets["spooled"].record.latencies[-SPOOLED_VMS:]))
            and readiness(self.product.address) == "ready"
        )


def readiness(address: str, http: httpx2.Client = _HTTP) -> str:
    """Return the status of /readyz, empty without an answer."""
    try:
        status: str = http.get(f"{address}/readyz").json()["status"]
    except (httpx2.HTTPError, ValueError, KeyError):
        return ""
    return status


@contextmanager
def running(vms: int, agents: int) -> Iterator[Site]:
    """Start everything; stop it and delete the folders afterwards."""
    with ExitStack() as stack:
        place = Path(stack.enter_context(TemporaryDirectory(prefix="sinemora-soak-")))
        (place / "storage").mkdir()
        storage = ObjectStorageServer(place / "storage")
        storage.start()
        stack.callback(storage.stop)
        more = storage.settings() | {
            "SINEMORA_DEMO_STORY": "off",
            "SINEMORA_INGEST_QUEUE_REPORTS": str(QUEUE_REPORTS),
        }
        product = stack.enter_context(embedded_product.running("soak", agents, **more))
        product.until_up()
        stack.callback(dispose)
        use_settings(product)
        worlds = _worlds(vms)
        entrance = Gateway(product.address, "queued", place / "gateway" / "queue", free_port())
        entrance.folder.parent.mkdir()
        stack.callback(entrance.end, signal.SIGTERM)  # also when it does not start in time
        entrance.start()
        product.until(lambda: readiness(product.address) == "ready", "the archive has its first base backup", _SETTLE_S)
        site = Site(product, storage, entrance, worlds, _fleets(product, entrance, worlds), _readers(product, worlds))
        for each in site.fleets.values():
            each.start()
        for reader in site.readers:
            reader.start()
        try:
            yield site
        finally:
            for each in site.fleets.values():
                each.stop(give_up=True)
            for reader in site.readers:
                reader.stop()


def use_settings(product: EmbeddedProduct) -> None:
    """Give this process the product's settings, so that meshes are created in its database."""
    for name in [name for name in os.environ if name.startswith(("SINEMORA_", "PG"))]:
        del os.environ[name]
    os.environ |= {name: value for name, value in product.env.items() if name.startswith("SINEMORA_")}
    use_settings_of(Settings(), product.folder)


def _worlds(vms: int) -> dict[str, World]:
    """Create the meshes. Those whose windows come as they end have the default rules."""
    tenant_id = owner_of_demonstration().tenant_id
    sizes = {"direct": vms, "behind": max(2, vms // 2), "spooled": SPOOLED_VMS, "burst": BURST_VMS}
    worlds = {name: make_world(tenant_id, f"soak-{name}", size, zones=4) for name, size in sizes.items()}
    with tenant_session(tenant_id) as session:
        for name in ("direct", "behind"):
            create_default_rules(session, worlds[name].mesh_id)
    return worlds


def _fleets(product: EmbeddedProduct, entrance: Gateway, worlds: dict[str, World]) -> dict[str, Fleet]:
    newest_s = int(time.time()) - 3600
    return {
        "direct": LiveFleet(product.port, worlds["direct"]),
        "behind": LiveFleet(entrance.port, worlds["behind"]),
        "spooled": Fleet(product.port, worlds["spooled"], SPOOLED_EVERY_S, newest_s),
    }


def _readers(product: EmbeddedProduct, worlds: dict[str, World]) -> list[Reader]:
    owner = Person(product.address, EMAIL)
    people = [owner, owner.colleague("viewer@sinemora.example")]
    meshes = [worlds["direct"], worlds["behind"]]
    return [
        Reader(person, world.mesh_id, world.vm_ids, starts_jobs=person is owner)
        for person, world in zip(people, meshes, strict=True)
    ]
