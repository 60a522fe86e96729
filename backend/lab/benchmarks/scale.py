"""Figures of scale on a separate product: one JSON object a figure, commentary on stderr.

Reports go through the real API of agents, from a simulated fleet that keeps what was not acknowledged and sends it
again.

    make bench-scale                 everything
    make bench-scale ONLY=pairs      one group: pairs, capacity or neighbours
"""

from collections.abc import Callable

from lab.benchmarks import figures
from lab.benchmarks.scaling import capacity, neighbours, pairs
from lab.benchmarks.storing.product import Product, running


def alone(measure: Callable[[Product], None]) -> None:
    """Measure on a separate product."""
    with running() as product:
        measure(product)


if __name__ == "__main__":
    figures.run(
        {
            "pairs": lambda: alone(pairs.pairs),
            "capacity": lambda: alone(capacity.capacity),
            "neighbours": neighbours.neighbours,
        }
    )
