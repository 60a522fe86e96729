"""Identity of the code that simulates, for reports: releases share a version with the changes between them."""

import hashlib
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

_PACKAGES = ("sinemora.applications.curves", "sinemora.recommendations.placement", "sinemora.labs.simulation")


@cache
def code_digest() -> str:
    """Return 16 hexadecimal digits that identify the Python source of simulations, policies and curves."""
    digest = hashlib.sha256()
    for package in _PACKAGES:
        _add(resources.files(package), package, digest)
    return digest.hexdigest()[:16]


def _add(folder: Traversable, name: str, digest: "hashlib._Hash") -> None:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            _add(entry, f"{name}/{entry.name}", digest)
        elif entry.name.endswith(".py"):
            digest.update(f"{name}/{entry.name}\n".encode())
            digest.update(entry.read_bytes())
