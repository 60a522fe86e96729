"""The capacity model against the product: coefficients from some sizes, predictions at two others.

Reports of a simulated fleet go through the API of agents, then their windows are merged. Processor time counts, not
that of a clock, so that other programs of the machine disturb little; sizes take turns, and medians count.
"""

import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import asdict, astuple, replace
from pathlib import Path
from statistics import median

import numpy as np
import psutil

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.benchmarks.scaling.fitting import FIT, HELD_OUT, Cost, Size, errors_of, fit
from lab.benchmarks.storing.ingest import bytes_of
from lab.benchmarks.storing.load import Load
from lab.benchmarks.storing.product import Product, World
from lab.benchmarks.storing.worlds import report, request_at, window
from sinemora.kit.json_text import json_text
from sinemora.operations.capacity import coefficients

FILE = Path(coefficients.__file__).with_name(coefficients.FILE)
PAGE = Path(__file__).resolve().parents[4] / "docs" / "capacity.md"
TURNS = 5
NEWEST_S = int(time.time()) // 60 * 60 - 1800
"""Start of the newest minute, Unix time."""


def capacity(product: Product) -> None:
    """Measure all sizes in turns, fit the coefficients, and predict the sizes that were held out."""
    worlds: dict[Size, World] = {}
    rows: dict[Size, list[Cost]] = defaultdict(list)
    known: dict[Size, int] = {}
    """VMs that the API knew when a size was first measured."""
    for turn in range(TURNS):
        for size in (*FIT, *HELD_OUT):
            if turn and size.vms > 5000:
                continue  # one turn is enough of a large mesh
            if size not in worlds:
                worlds[size] = product.world(f"capacity-{size.vms}-{size.pairs}", size.vms)
                known[size] = sum(one.vms for one in worlds)
                _turn(product, worlds[size], size, -1)  # the first report of a VM costs more, once
            rows[size].append(_turn(product, worlds[size], size, turn))
            comment(f"turn {turn + 1}, {size}: {rows[size][-1]}")
    costs = {size: _typical(some) for size, some in rows.items()}
    fitted = fit(costs, known)
    errors = errors_of(costs, known, fitted)
    figures.report("scale_capacity_error_percent", max(errors.values()), **errors)
    if os.environ.get("RECORD") != "0":
        FILE.write_text(json_text(asdict(replace(fitted, errors=errors))) + "\n", "utf-8")
        _show()


def _show() -> None:
    """Write what the command prints now to its page, under the command."""
    before, block, after = PAGE.read_text("utf-8").split("```", 2)
    line = next(line for line in block.splitlines() if line.startswith("$ "))
    command = [sys.executable, "-m", "sinemora.cli", *line.split()[2:]]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    PAGE.write_text(f"{before}```\n{line}\n{printed}```{after}", "utf-8")


def _typical(turns: list[Cost]) -> Cost:
    """Return the medians of turns; memory is that of the first, when the API knew only these VMs."""
    medians = [median(column) for column in zip(*map(astuple, turns), strict=True)]
    return Cost(*medians[:6], *astuple(turns[0])[6:])


def _turn(product: Product, world: World, size: Size, turn: int) -> Cost:
    """Send windows of minutes that no other turn has, merge them, and return what that cost."""
    minute = NEWEST_S - (turn + 2) * 60 * size.minutes
    requests = requests_of(world, size, minute)
    disk = bytes_of("probe_frames")
    api_s, database_s = send(product, size, requests)
    disk = bytes_of("probe_frames") - disk
    merge_database_s = product.database_cpu_s()
    merged = merge(world, size.minutes)
    return Cost(
        api_s,
        database_s,
        merged["cpu_s"],
        product.database_cpu_s() - merge_database_s,
        disk,
        sum(map(len, requests)),
        product.rss_kb() * 1024,
        merged["peak_bytes"],
        _database_memory(product),
    )


def requests_of(world: World, size: Size, minute: int) -> list[bytes]:
    """Return a report of every VM in every window; all report equal delays, about peers of their own."""
    message = report(window(np.random.default_rng(size.pairs), 0, np.arange(1, size.pairs + 1)), world.mesh_key)
    keys = np.array(world.vm_keys)
    requests = []
    for number in range(size.windows):
        first = number * size.pairs if size.rotates else 0
        for at, credential in enumerate(world.credentials):
            peers = np.sort(keys[(at + first + 1 + np.arange(size.pairs)) % size.vms])
            message.windows[0].peer_keys[:] = peers.tolist()
            requests.append(request_at(credential, message, minute + 10 * number))
    return requests


_MERGE = """
import json, sys, time
from datetime import UTC, datetime
from sinemora import tables
from sinemora.measurements.store import roll_up
from sinemora.measurements.store.tiers import Tier
began_s, minutes = time.process_time(), 0
while some := roll_up.roll_up_mesh(int(sys.argv[1]), int(sys.argv[2]), Tier.MINUTE, datetime.now(UTC)):
    minutes += some
cpu_s = time.process_time() - began_s
(peak,) = [int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(json.dumps({"minutes": minutes, "cpu_s": cpu_s, "peak_bytes": peak}))
"""


def merge(world: World, minutes: int) -> dict[str, float]:
    """Merge the finished minutes of a mesh in a separate process, as a worker does; exit unless they are so many.

    Return its processor seconds and its largest memory.
    """
    command = [sys.executable, "-c", _MERGE, str(world.tenant_key), str(world.mesh_key)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"merging ended with {done.returncode}:\n{done.stderr[-2000:]}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    if result["minutes"] != minutes:
        sys.exit(f"{result['minutes']} minutes were merged, not {minutes}")
    return result


def send(product: Product, size: Size, requests: list[bytes]) -> tuple[float, float]:
    """Send the reports of a turn; exit unless all are acknowledged. Return processor seconds: API, database."""
    api_s, database_s = product.cpu_s(), product.database_cpu_s()
    outcome = Load([product.port], requests).wait()
    if outcome.refused or outcome.acknowledged != size.reports:
        sys.exit(f"{outcome}: not every report was acknowledged")
    return product.cpu_s() - api_s, product.database_cpu_s() - database_s


def _database_memory(product: Product) -> float:
    """Return the memory of all processes of PostgreSQL; what they share counts once."""
    server = psutil.Process(product.postmaster)
    total = 0.0
    for process in (server, *server.children()):
        try:
            total += process.memory_full_info().pss
        except psutil.NoSuchProcess:
            continue
    return total
