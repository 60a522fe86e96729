"""Runs a command with the project's toolchain on PATH: `python3 infra/toolchain/run.py [--in FOLDER] COMMAND …`."""

import os
import sys
from pathlib import Path

from builds import PYTHON
from common import ROOT, environment

EMBEDDED = "sinemora-embedded"  # short for the supervisor's commands, which do not load the backend


def main(arguments: list[str]) -> None:
    """Replace this process by the command."""
    if arguments[:1] == ["--in"]:
        os.chdir(ROOT / arguments[1])
        arguments = arguments[2:]
    if not arguments:
        sys.exit("usage: run.py [--in FOLDER] COMMAND …")
    if arguments[0] == EMBEDDED:
        arguments = [str(PYTHON), "-m", "sinemora.operations.embedded", *arguments[1:]]
    env = environment()
    os.environ["PATH"] = env["PATH"]
    try:
        os.execvpe(arguments[0], arguments, env)
    except FileNotFoundError:
        sys.exit(f"{Path(arguments[0]).name} is not here yet.\nWhat to do: make setup")


if __name__ == "__main__":
    main(sys.argv[1:])
