"""System packages: installed when root on Debian and its kin, else brought into `.tools/debian` without root."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

import unpacked
from common import StepFailedError
from steps import Log

_refreshed = False


def install(packages: list[str], why: str, log: Log) -> None:
    """Install `packages`; raises StepFailedError with the line that installs them when they cannot be had."""
    line = f"apt-get install {' '.join(packages)}"
    if not shutil.which("apt-get"):
        raise StepFailedError(
            why, f"install with your package manager what Debian calls {' '.join(packages)}, then again"
        )
    if os.geteuid() != 0:
        unpacked.bring(packages, log)
        return
    global _refreshed
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    if not _refreshed:
        advice = f"check that this machine reaches its package sources, then again; or install by hand: {line}"
        log.run(["apt-get", "update"], advice, Path("/"), **quiet)
        _refreshed = True
        with suppress(StepFailedError):  # apt-get itself reports what is left to do
            log.run(["dpkg", "--configure", "-a"], advice, Path("/"), **quiet)  # after an interrupted installation
    log.run(
        ["apt-get", "install", "-y", "--no-install-recommends", "--fix-broken", *packages],
        f"see why the packages cannot be installed: {line}",
        Path("/"),
        **quiet,
    )
