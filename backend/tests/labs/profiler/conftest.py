"""Network namespaces for profiles."""

import os
import subprocess

import pytest


@pytest.fixture
def namespaces() -> None:
    """Skip where users cannot create network namespaces with TAP interfaces, which a profile needs."""
    if os.geteuid() == 0:
        return
    unshared = subprocess.run(["unshare", "-Urn", "true"], capture_output=True, check=False)
    if unshared.returncode or not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("not run: this machine gives users no TAP interfaces in network namespaces; run it as root")
