"""Chooses the Python of the product's environment: the oldest suitable one of the machine, so that tests run on it.

What is newer than the oldest Python that is promised fails here, instead of on the machine of somebody else.
"""

import os
import re
import sys
from pathlib import Path

from common import VERSIONS, version_of
from tools import candidates, output

CHOSEN = "SINEMORA_PYTHON_CHOSEN"
"""Set by the Makefile where somebody names a Python: make PYTHON=…"""
_SYSTEM = ("/usr/bin", "/bin", "/usr/local/bin")
# Modules that a Python built without their libraries lacks.
_SHOW = "import bz2, ctypes, lzma, sqlite3, ssl, sys, zlib; print('%d.%d.%d' % sys.version_info[:3], sys.executable)"
_NAME = re.compile(r"python3(\.\d+)?")


def use_oldest() -> None:
    """Go on under the oldest suitable Python, unless this one was chosen by name or is as old."""
    if os.environ.get(CHOSEN):
        return
    oldest = min(_suitable(), default=None, key=lambda found: (found[0], not found[1].startswith(_SYSTEM)))
    if oldest and oldest[0] < sys.version_info[:3]:
        os.environ[CHOSEN] = "oldest"
        os.execv(oldest[1], [oldest[1], *sys.argv])


def _suitable() -> list[tuple[tuple[int, ...], str]]:
    """Return version and path of each Python on PATH and of the system that is new enough and whole."""
    folders = dict.fromkeys([*os.environ.get("PATH", os.defpath).split(os.pathsep), *_SYSTEM])
    names = {path.name for folder in folders if folder for path in Path(folder).glob("python3*")}
    programs = [program for name in sorted(names) if _NAME.fullmatch(name) for program in _all(name)]
    shown = {text for program in programs if (text := output(program, "-c", _SHOW))}
    found = [(version_of(text), text.partition(" ")[2]) for text in shown]
    minimum = version_of(VERSIONS["python"]["minimum"])
    return [(version, path) for version, path in found if version >= minimum]


def _all(name: str) -> list[Path]:
    return candidates(name, *(Path(folder) / name for folder in _SYSTEM))
