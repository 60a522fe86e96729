"""Figures of the console in Chromium on a separate product: `make bench-ui` (some groups: ONLY=faults,heap).

speed    meshes of 100, 300 and 1,000 VMs and a list of 2,000; `ui_svg_…` is the time to draw as many cells as elements
         of an SVG in the same browser. While frames are counted, the mesh of 300 VMs reports windows
pages    layout shifts and accessibility of all pages, while they load and loaded, light and dark
faults   five faults in a simulated network of 100 VMs in 12 zones (another network: SEED=2), read from the page
clicks   seven faults of a month of the same network, two of them over, by links and marks of the pages (SEED=2)
heap     growth of the JavaScript heap of pages that stay open on that network (MINUTES=30)

The pages are measured by `e2e/bench`, which passes the figures on.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.benchmarks.showing.network import Network
from lab.benchmarks.showing.sights import sights_of
from lab.benchmarks.store import fill, fill_zones, make_partitions
from lab.benchmarks.storing.product import OWNER, Product, World, running
from lab.soak.senders import RepeatingFleet
from sinemora.measurements.store.roll_up import roll_up_mesh
from sinemora.measurements.store.tiers import ROLLED, Tier
from sinemora.operations.embedded.simulated import play, tenant
from sinemora.operations.embedded.simulated.api import HttpApi
from sinemora.operations.embedded.simulated.world import make_world

ROOT = Path(__file__).parents[3]
WINDOW_S = 10
VMS_LISTED = 2_000
GROUPS = ("speed", "pages", "faults", "clicks", "heap")
# The product forgets the settings of this process.
BROWSER = {name: value for name, value in os.environ.items() if name == "SINEMORA_CHROMIUM"}
SEED = int(os.environ.get("SEED") or 1)
MINUTES = float(os.environ.get("MINUTES") or 30)


def filled(product: Product, vms: int, zones: int) -> World:
    """Create a mesh and its newest windows."""
    comment(f"filling {vms} VMs")
    world = product.world(f"mesh-{vms}", vms, zones)
    newest = int(time.time()) // WINDOW_S * WINDOW_S - WINDOW_S
    fill(world, Tier.RAW, [newest - WINDOW_S * ago for ago in range(3)], WINDOW_S)
    return world


def month(world: World) -> None:
    """Store thirty days of a mesh: days of its paths, hours between its zones."""
    hour = int(time.time()) // 3600 * 3600
    day = hour // 86_400 * 86_400
    today = datetime.now(UTC).date()
    make_partitions(today - timedelta(days=31), today)
    fill(world, Tier.DAY, [day - 86_400 * ago for ago in range(1, 31)], WINDOW_S)
    fill(world, Tier.HOUR, [hour - 3600], WINDOW_S)
    fill_zones(world, Tier.DAY, [day - 86_400 * ago for ago in range(1, 31)], WINDOW_S)
    fill_zones(world, Tier.HOUR, [hour - 3600 * ago for ago in range(1, 721)], WINDOW_S)


def measure(product: Product, group: str, sign_in: tuple[str, str] | None = None, **more: object) -> dict[str, float]:
    """Run a group of measurements in the browser, report its figures and return them; exit when the run fails.

    `sign_in`: another user than the product's owner; `more` is passed to the browser as JSON.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures"
        email, password = sign_in or (OWNER, product.password)
        env = os.environ | BROWSER
        env |= {"SINEMORA_BENCH_FILE": str(file), "SINEMORA_BENCH_INPUT": json.dumps(more)}
        env |= {"SINEMORA_E2E_URL": product.url(""), "SINEMORA_E2E_EMAIL": email, "SINEMORA_E2E_PASSWORD": password}
        command = ["npx", "--no-install", "playwright", "test", "--project=bench", f"--grep={group}:"]
        done = subprocess.run(command, cwd=ROOT / "e2e", env=env, stdout=sys.stderr, check=False)
        measured = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        for found in measured:
            figures.report(found["figure"], found["value"], **found["detail"])
        if done.returncode:
            sys.exit("The browser run failed; its report is above.")
        return {found["figure"]: found["value"] for found in measured}


def speed(product: Product) -> None:
    """Measure times and frames with meshes of three sizes."""
    measure(product, "100 VMs")
    world = filled(product, 300, 12)
    filled(product, 1000, 24)
    product.world("rest", VMS_LISTED - 1400)
    fleet = RepeatingFleet(product.port, [world]).start()
    try:
        found = measure(product, "all")
    finally:
        comment(f"{len(fleet.stop(give_up=True).acknowledged)} reports meanwhile")
    figures.report("ui_values_ratio_to_svg_300", found["ui_values_ms_1000"] / found["ui_svg_ms_300"])


def simulated(product: Product, only: set[str]) -> None:
    """Measure the figures of a network that is fed live. Without faults there is no most unusual path."""
    with Network(product, SEED) as network:
        sights = [asdict(sight) for sight in network.break_down()]
        inputs: dict[str, Any] = {"faults": {"sights": sights, "seed": SEED}, "heap": {"minutes": MINUTES}}
        for group in [name for name in inputs if name in only]:
            measure(product, group, network.sign_in, **inputs[group])


def month_of_faults(product: Product) -> None:
    """Load a month of the simulated network and keep it current while its seven faults are looked for."""
    with tempfile.TemporaryDirectory() as folder:
        demo = play.load(HttpApi(product.url("")), Path(folder) / "state.json", SEED)
        loaded = demo.simulated
        for tier in ROLLED:
            while roll_up_mesh(loaded.actor.tenant_key, loaded.mesh_key, tier, datetime.now(UTC)):
                pass
        ended = threading.Event()

        def send() -> None:
            while not ended.is_set():
                demo.send_next()

        sending = threading.Thread(target=send)
        sending.start()
        try:
            sights = [asdict(sight) for sight in sights_of(make_world(SEED), demo.faults)]
            measure(product, "clicks", (tenant.EMAIL, loaded.password or ""), sights=sights, seed=SEED)
        finally:
            ended.set()
            sending.join()


def main() -> None:
    """Start a product and measure its console."""
    frontend = ROOT / "frontend" / "dist"
    only = set(figures.selected(GROUPS))
    if "clicks" in only:
        with running(frontend_dir=str(frontend), retention_raw_days="31") as product:
            month_of_faults(product)
    if not only - {"clicks"}:
        return
    with running(frontend_dir=str(frontend)) as product:
        if only & {"speed", "pages"}:
            month(filled(product, 100, 12))
        if "speed" in only:
            speed(product)
        if "pages" in only:
            measure(product, "pages")
        if only & {"faults", "heap"}:
            simulated(product, only)


if __name__ == "__main__":
    main()
    figures.finish()
