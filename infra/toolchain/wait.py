"""`make wait`: waits for the backend to be installed, then for the demonstration mesh, in one time limit."""

import os
import sys
import time

from builds import PYTHON as PROGRAM
from common import ROOT, TOOLS, environment
from settings import setting

DEFAULT_S = "300"


def main() -> None:
    """Hand over to `sinemora wait` as soon as it is there; it takes what is left of the time."""
    try:
        limit_s = float(setting("WAIT_S", DEFAULT_S))
    except ValueError:
        sys.exit("SINEMORA_WAIT_S must be a number of seconds.")
    deadline = time.monotonic() + limit_s
    said = False
    while not (PROGRAM.exists() and (TOOLS / "stamps" / "backend").exists()):
        if not said:
            print("The backend is not installed yet: waiting for `make up` in another terminal …", flush=True)
            said = True
        if time.monotonic() > deadline:
            sys.exit(f"Nothing was installed within {limit_s:.0f} s.\nWhat to do: make up")
        time.sleep(0.5)
    left = max(1, round(deadline - time.monotonic()))
    os.chdir(ROOT)
    os.execve(
        PROGRAM,
        [str(PROGRAM), "-m", "sinemora.operations.embedded", "wait"],
        environment() | {"SINEMORA_WAIT_S": str(left)},
    )


if __name__ == "__main__":
    main()
