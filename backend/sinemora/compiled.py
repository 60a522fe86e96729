"""The decorator of compiled loops. Importing it imports numba, which takes a second: import what uses it lazily."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numba import njit

_P = ParamSpec("_P")
_R = TypeVar("_R")


def compiled(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Compile at the first call, without holding the interpreter's lock while it runs.

    The result is kept on disk for the next process, beside the code or in the user's cache (NUMBA_CACHE_DIR says where
    instead); where nothing can be written each process compiles for itself.
    """
    try:
        kept: Callable[_P, _R] = njit(cache=True, nogil=True)(function)
    except RuntimeError:  # "no locator available": nowhere to write
        kept = njit(nogil=True)(function)
    return kept
