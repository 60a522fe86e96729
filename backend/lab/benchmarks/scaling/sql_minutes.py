"""Cost of minutes between zones as plain columns: merging with and without them, by turns, relative to all of ingest.

Reports of a simulated fleet go through the API of agents. Only merging differs, so the difference of two neighbouring
merges counts, relative to what the reports and the merge without plain columns took. Processor time counts.
"""

from statistics import median

from sqlalchemy import text

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.benchmarks.scaling.capacity import NEWEST_S, merge, requests_of, send
from lab.benchmarks.scaling.fitting import Size
from lab.benchmarks.storing.product import Product, World
from sinemora.kit.db import system_session

TURNS = 12
SIZE = Size(100, 49, 30)


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
    reports, merges = 0.0, {}
    for place, way in enumerate(("with", "without") if turn % 2 else ("without", "with")):
        minute = NEWEST_S - (2 * (turn + 2) + place) * 60 * SIZE.minutes
        requests = requests_of(world, SIZE, minute)
        reports += sum(send(product, SIZE, requests))
        # Other processes of the database, such as autovacuum, would add more noise than the difference.
        merged = merge(world, SIZE.minutes, way)
        merges[way] = merged["cpu_s"] + merged["backend_s"]
    return reports / 2, merges


def _rows(world: World) -> int:
    with system_session() as session:
        stored = session.scalar(
            text("SELECT count(*) FROM zone_minutes WHERE mesh_key = :key"), {"key": world.mesh_key}
        )
    return int(stored or 0)
