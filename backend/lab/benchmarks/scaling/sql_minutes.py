"""Cost of minutes between zones as plain columns: merging with and without them, by turns, relative to all of ingest.

Reports of a simulated fleet go through the API of agents. Only merging differs, so the difference of two neighbouring
merges counts, relative to what the reports and the merge without plain columns took. Processor time counts.
"""

import json
import subprocess
import sys
from statistics import median

from sqlalchemy import text

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.benchmarks.scaling.capacity import NEWEST_S, requests_of
from lab.benchmarks.scaling.fitting import Size
from lab.benchmarks.storing.load import Load
from lab.benchmarks.storing.product import Product, World
from sinemora.kit.db import system_session

TURNS = 12
SIZE = Size(100, 49, 30)

_MERGE = """
import json, sys, time
from datetime import UTC, datetime
from pathlib import Path
from sqlalchemy import text
from sinemora import tables
from sinemora.kit.db import system_session
from sinemora.measurements.store import roll_up, zone_minutes
from sinemora.measurements.store.tiers import Tier
if sys.argv[3] == "without":
    zone_minutes.store = lambda *_: None
def database_s():
    with system_session() as session:  # all sessions of this process, one after the other, have one connection
        backend = session.scalar(text("SELECT pg_backend_pid()"))
    return backend, int(Path(f"/proc/{backend}/schedstat").read_text().split()[0]) / 1e9
(backend, database_began_s), began_s, minutes = database_s(), time.process_time(), 0
while some := roll_up.roll_up_mesh(int(sys.argv[1]), int(sys.argv[2]), Tier.MINUTE, datetime.now(UTC)):
    minutes += some
cpu_s, (same, database_ended_s) = time.process_time() - began_s, database_s()
assert same == backend
print(json.dumps({"minutes": minutes, "cpu_s": cpu_s + database_ended_s - database_began_s}))
"""


def minutes(product: Product) -> None:
    """Measure a mesh of 100 VMs in 8 zones."""
    world = product.world("sql", SIZE.vms)
    _turn(product, world, -1)  # the first report of a VM costs more, once
    turns = [_turn(product, world, turn) for turn in range(TURNS)]
    lost = [100 * (merge["with"] - merge["without"]) / (merge["without"] + reports) for reports, merge in turns]
    reports, merges = median(reports for reports, _ in turns), median(merge["without"] for _, merge in turns)
    comment(f"reports {reports:.2f} s, merge {merges:.2f} s; {[round(one, 2) for one in lost]}")
    rows = _rows(world) // ((TURNS + 1) * SIZE.minutes)
    figures.report("scale_sql_minutes_ingest_loss_percent", median(lost), turns=TURNS, rows_per_minute=rows)


def _turn(product: Product, world: World, turn: int) -> tuple[float, dict[str, float]]:
    """Send and merge some minutes with plain columns and some without; which come first changes from turn to turn.

    Return the processor seconds of the reports, the mean of both, and of each merge.
    """
    reports, merge = 0.0, {}
    for place, way in enumerate(("with", "without") if turn % 2 else ("without", "with")):
        minute = NEWEST_S - (2 * (turn + 2) + place) * 60 * SIZE.minutes
        requests = requests_of(world, SIZE, minute)
        before = product.cpu_s() + product.database_cpu_s()
        outcome = Load([product.port], requests).wait()
        reports += product.cpu_s() + product.database_cpu_s() - before
        if outcome.refused or outcome.acknowledged != SIZE.reports:
            sys.exit(f"{outcome}: not every report was acknowledged")
        merge[way] = _merge_s(world, way)
    return reports / 2, merge


def _merge_s(world: World, way: str) -> float:
    """Merge what waits in a separate process, as a worker does. Return its processor seconds and its backend's.

    Other processes of the database, such as autovacuum, would add more noise than the difference.
    """
    command = [sys.executable, "-c", _MERGE, str(world.tenant_key), str(world.mesh_key), way]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"merging ended with {done.returncode}:\n{done.stderr[-2000:]}")
    result = json.loads(done.stdout.splitlines()[-1])
    if result["minutes"] != SIZE.minutes:
        sys.exit(f"{result['minutes']} minutes were merged, not {SIZE.minutes}")
    return float(result["cpu_s"])


def _rows(world: World) -> int:
    with system_session() as session:
        stored = session.scalar(
            text("SELECT count(*) FROM zone_minutes WHERE mesh_key = :key"), {"key": world.mesh_key}
        )
    return int(stored or 0)
