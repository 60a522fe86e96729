"""Folders that lie beside the package in a checkout, and within it where it was installed from a wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def bundled(name: str) -> Path:
    """Return the folder `migrations` or `frontend`; that of the front end exists once it was built."""
    installed = _PACKAGE / "bundled" / name
    beside = _PACKAGE.parents[1] / name
    return installed if installed.is_dir() else beside / "dist" if name == "frontend" else beside
