"""Figures of the advisors, one JSON object each. `SEED=` selects random sets; `ONLY=` some groups: price, fairness,
transport, transfers, control-group, shaping, treatment and bulk-sender (the last three as root).
"""

import os
import sys
from collections.abc import Callable

from lab.benchmarks.advising import (
    bulk_sender,
    control_group,
    fairness,
    price,
    shaping,
    transfers,
    transport,
    treatment,
)
from lab.benchmarks.figures import finish

GROUPS: dict[str, Callable[[int], None]] = {
    "price": price.main,
    "fairness": fairness.main,
    "transport": transport.main,
    "transfers": transfers.main,
    "control-group": control_group.main,
    "shaping": shaping.main,
    "treatment": treatment.main,
    "bulk-sender": bulk_sender.main,
}


def main(seed: int, only: list[str]) -> None:
    """Run the groups `only`, or all. Exits with 2 for a group that does not exist."""
    if unknown := [name for name in only if name not in GROUPS]:
        sys.stderr.write(f"Unknown group {', '.join(unknown)}; there are {', '.join(GROUPS)}.\n")
        sys.exit(2)
    for name, run in GROUPS.items():
        if not only or name in only:
            run(seed)


if __name__ == "__main__":
    main(int(os.environ.get("SEED") or "1"), [name for name in os.environ.get("ONLY", "").split(",") if name])
    finish()
