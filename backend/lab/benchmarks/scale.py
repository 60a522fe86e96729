"""Figures of scale on a separate product: one JSON object a figure, commentary on stderr.

Reports go through the real API of agents, from a simulated fleet that keeps what was not acknowledged and sends it
again.

    make bench-scale                 everything
    make bench-scale ONLY=pairs      one group: pairs, capacity or neighbours
"""

from lab.benchmarks import figures
from lab.benchmarks.scaling import capacity, neighbours, pairs
from lab.benchmarks.storing.product import running

GROUPS = {"pairs": pairs.pairs, "capacity": capacity.capacity}


def main() -> None:
    """Measure the groups of ONLY, all by default, each on a product of its own."""
    for name in figures.selected((*GROUPS, "neighbours")):
        if name == "neighbours":
            neighbours.neighbours()
            continue
        with running() as product:
            GROUPS[name](product)
    figures.finish()


if __name__ == "__main__":
    main()
