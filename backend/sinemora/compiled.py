"""The decorator of compiled loops. Importing it imports numba, which takes a second: import what uses it lazily."""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import ParamSpec, TypeVar

from numba import config, njit
from numba.core.caching import InTreeCacheLocator, UserProvidedCacheLocator, UserWideCacheLocator

_P = ParamSpec("_P")
_R = TypeVar("_R")


def compiled(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Compile at the first call, without holding the interpreter's lock while it runs.

    The result is kept on disk for the next process, beside the code or in the user's cache (NUMBA_CACHE_DIR says where
    instead), until any code in the folder of the function changes: it holds what it calls and the constants it uses.
    Where nothing can be written each process compiles for itself.
    """
    try:
        kept: Callable[_P, _R] = njit(cache=True, nogil=True)(function)
    except RuntimeError:  # "no locator available": nowhere to write
        kept = njit(nogil=True)(function)
    return kept


class _OfFolder:
    """numba by itself looks at the file of the function alone, and would keep what that has from other files."""

    _py_file: str

    def get_source_stamp(self) -> str:
        """What must be the same for a kept result to hold."""
        return _code_of(Path(self._py_file).parent)


class Provided(_OfFolder, UserProvidedCacheLocator):
    """In NUMBA_CACHE_DIR."""


class InTree(_OfFolder, InTreeCacheLocator):
    """Beside the code."""


class UserWide(_OfFolder, UserWideCacheLocator):
    """In the user's cache."""


config.CACHE_LOCATOR_CLASSES = ",".join(f"{__name__}.{one.__name__}" for one in (Provided, InTree, UserWide))  # type: ignore[attr-defined]


@cache
def _code_of(folder: Path) -> str:
    """Return a digest of all code in a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        code = path.read_bytes()
        digest.update(f"{path.name} {len(code)} ".encode() + code)
    return digest.hexdigest()
