"""Figures of scale and disaster on a separate product: one JSON object a figure, commentary on stderr.

Reports go through the real API of agents, from a simulated fleet that keeps what was not acknowledged and sends it
again.

    make bench-scale                 everything
    make bench-scale ONLY=restore    some groups: restore standby rolling upgrade handover gateway parquet capacity sql
                                     cluster
    make bench-scale ONLY=cluster CLUSTER=postgresql://postgres@HOST/postgres    a cluster of Citus that runs already
"""

from lab.benchmarks import figures
from lab.benchmarks.scaling import (
    aged,
    capacity,
    cluster,
    disaster,
    gateway,
    handover,
    rolling,
    sql_minutes,
    standby,
    upgrade,
)
from lab.benchmarks.storing.product import running

GROUPS = {
    "restore": disaster.restore,
    "standby": standby.promote,
    "rolling": rolling.replace,
    "upgrade": upgrade.upgrade,
    "handover": handover.hand_over,
    "gateway": gateway.through,
    "parquet": aged.aged,
    "capacity": capacity.capacity,
    "sql": sql_minutes.minutes,
}
# These start their products themselves.
ALONE = {"cluster": cluster.cluster}


def main() -> None:
    """Measure the groups of ONLY, all by default, each on a product of its own."""
    for name in figures.selected([*GROUPS, *ALONE]):
        if name in ALONE:
            ALONE[name]()
            continue
        with running() as product:
            GROUPS[name](product)
    figures.finish()


if __name__ == "__main__":
    main()
