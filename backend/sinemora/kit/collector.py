"""The collector of reference cycles, paused while the product is imported.

What is imported stays to the end. The collector passes over it again and again while it grows, which takes a quarter of
the processor time of a start and finds next to nothing.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """Let the collector rest meanwhile, for imports alone: cycles of other work would grow without bound."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
