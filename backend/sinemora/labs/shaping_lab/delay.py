"""A delaybox between two interfaces of a namespace: a base delay of the lab's network."""

from collections.abc import Iterator
from contextlib import contextmanager

from sinemora.kit.delaybox import Delaybox


@contextmanager
def delayed(namespace: str, left: str, right: str, delay_us: float) -> Iterator[None]:
    """Pass packets between two interfaces of a namespace, `delay_us` later each way. Raises `DelayboxError`."""
    sides = [f"if:{device}@{namespace}" for device in (left, right)]
    delay = f"delay={round(1e3 * delay_us)}ns"
    box = Delaybox(["run", "--left", sides[0], "--right", sides[1], "--both", delay])
    try:
        yield
    finally:
        box.close()
