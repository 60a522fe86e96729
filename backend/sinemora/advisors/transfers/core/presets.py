"""Presets: a sort on a star, two racks or four racks, as in Z. Nabi, "Mission Control", 2012, sections 5.1 and 5.2."""

import numpy as np

from sinemora.advisors.transfers.core.network import Floats, Network, tree
from sinemora.advisors.transfers.core.plan import Transfers

WORKERS = 40
CAPACITY = 1e9 / 8
"""Bytes/s of a worker: the source has 1 Gbit/s."""
RACKS = {"star": 1, "two_rack": 2, "four_rack": 4}
OVERSUBSCRIPTION = 4.0
"""Oversubscription of racks. The source quotes 2:1 up to 147:1 in production and measured none."""


def preset_network(kind: str, workers: int = WORKERS, oversubscription: float = OVERSUBSCRIPTION) -> Network:
    """Return the star, two-rack or four-rack network of the preset."""
    return tree([f"worker-{at + 1}" for at in range(workers)], RACKS[kind], CAPACITY, oversubscription)


def shuffle(size_bytes: float, reducers: Floats) -> Transfers:
    """Return the shuffle of a sort: every worker sends each other one a share of its part.

    `reducers` are the relative volumes that the reducers get, one on each worker. What stays on a worker is left out.
    """
    workers = reducers.size
    sources, targets = np.nonzero(~np.eye(workers, dtype=bool))
    size = size_bytes / workers * reducers[targets] / reducers.sum()
    return Transfers(sources, targets, size, np.full(size.size, np.inf))
