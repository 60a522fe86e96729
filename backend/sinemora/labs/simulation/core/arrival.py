"""Place the tasks of a job without regard to latency: the baselines of the source (UCAM-CL-TR-937, 6.3.2)."""

import numpy as np

from sinemora.recommendations.placement.problem import Ints


def random_slots(free: Ints, tasks: int, rng: np.random.Generator) -> Ints:
    """Return the number of tasks per machine if tasks take random free slots."""
    slots = np.repeat(np.arange(len(free)), free)
    chosen = rng.choice(slots, min(tasks, len(slots)), replace=False)
    return np.bincount(chosen, minlength=len(free))


def emptiest(free: Ints, tasks: int, rng: np.random.Generator) -> Ints:
    """Return the number of tasks per machine if each task goes to the machine with the most free slots."""
    left = int(min(tasks, free.sum()))
    level = np.sort(free)[::-1]
    # Largest number of free slots that can remain on the emptiest machines while `left` tasks fit.
    low, high = 0, int(level[0]) if len(level) else 0
    while low < high:
        middle = (low + high + 1) // 2
        if np.maximum(free - middle, 0).sum() >= left:
            low = middle
        else:
            high = middle - 1
    taken = np.maximum(free - low, 0)
    surplus = int(taken.sum()) - left
    if surplus > 0:
        at = np.flatnonzero(free - low > 0)
        taken[rng.choice(at, surplus, replace=False)] -= 1
    return taken
