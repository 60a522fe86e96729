"""Commands and expectations of the trial of packages. Each expectation prints a line; the first that fails ends it."""

import subprocess
import sys
from pathlib import Path


def inside(root: Path, command: list[str], stdin: str = "", *, check: bool = True) -> str:
    """Run a command with `root` as the root folder and return its output."""
    clean = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C"}
    done = subprocess.run(
        ["chroot", str(root), *command], input=stdin, capture_output=True, text=True, env=clean, check=False
    )
    output = done.stdout + done.stderr
    if check and done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{output}")
    return output


def expect(holds: bool, what: str, output: str) -> None:
    """Exit with the output unless the condition holds."""
    if not holds:
        sys.exit(f"Expected {what}:\n{output}")
    print(f"ok  {what}")


def run(*command: str) -> None:
    """Run a command; exit if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
