"""Figure of the fairness meter: table 5.1 of the source, imported as CSV.

Source: Z. Nabi, "Mission Control: Enabling Efficient and Heterogeneous Data Transfers in Data Intensive Computing",
University of Cambridge, 2012, table 5.1: Jain's index of a sort of 2 to 20 GB over two transports.
"""

from lab.benchmarks.figures import report
from sinemora.advisors.fairness.core.tables import groups_of_csv

TABLE = {
    "DCTCP": (0.799, 0.902, 0.801, 0.759, 0.896, 0.910, 0.924, 0.940, 0.958, 0.944),
    "TCP": (0.793, 0.904, 0.943, 0.964, 0.938, 0.945, 0.968, 0.965, 0.969, 0.955),
}
MEANS = {"DCTCP": 0.8833, "TCP": 0.9344}


def table_csv() -> str:
    """Return table 5.1 as CSV."""
    rows = [
        f"{transport},{2 * (at + 1)} GB,{index}"
        for transport, indices in TABLE.items()
        for at, index in enumerate(indices)
    ]
    return "group,window,index\n" + "\n".join(rows) + "\n"


def table_error() -> float:
    """Return the largest error of the imported means."""
    found = {group.group: group.mean or 0.0 for group in groups_of_csv(table_csv())}
    return max(abs(found[transport] - mean) for transport, mean in MEANS.items())


def main(_seed: int) -> None:
    """Print the figure."""
    report("fairness_table_error", table_error())
