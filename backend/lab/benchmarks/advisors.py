"""Figures of the advisors, one JSON object each. `SEED=` selects random sets; `ONLY=` some groups: price, fairness,
transport, transfers, control-group, shaping, treatment and bulk-sender (the last three as root).
"""

import os
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
from lab.benchmarks.figures import finish, selected

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


if __name__ == "__main__":
    for name in selected(GROUPS):
        GROUPS[name](int(os.environ.get("SEED") or "1"))
    finish()
