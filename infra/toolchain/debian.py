"""System packages: installed when root on Debian and its kin, otherwise named in the line that installs them."""

import os
import shutil
from pathlib import Path

from common import StepFailedError
from steps import Log

_refreshed = False


def install(packages: list[str], why: str, log: Log) -> None:
    """Install `packages` with apt-get as root; raises StepFailedError with the line to type otherwise."""
    line = f"apt-get install {' '.join(packages)}"
    if not shutil.which("apt-get"):
        raise StepFailedError(
            why, f"install with your package manager what Debian calls {' '.join(packages)}, then again"
        )
    if os.geteuid() != 0:
        raise StepFailedError(why, f"sudo {line}")
    global _refreshed
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    if not _refreshed:
        log.run(["apt-get", "update"], "check the package sources of this machine, then again", Path("/"), **quiet)
        _refreshed = True
    log.run(
        ["apt-get", "install", "-y", "--no-install-recommends", *packages],
        f"see why the packages cannot be installed: {line}",
        Path("/"),
        **quiet,
    )
