"""The command line of the client's package: without the server, and the same words and figures."""

import subprocess
import sys
from pathlib import Path

import pytest

from sinemora import kit
from sinemora.measurements.query.requests import REQUESTS
from sinemora_client import commands
from sinemora_client.commands.measurements import QUERIES

# Imports each command as in an environment that has the client's own dependencies alone.
_ALONE = """
import sys
for name in ("sinemora", "pydantic", "numpy", "sqlalchemy", "fastapi", "cryptography"):
    sys.modules[name] = None
from importlib import import_module
from sinemora_client import cli
for module, _ in cli.COMMANDS.values():
    import_module(module)
sys.argv = ["sinemora", *sys.argv[1:]]
cli.main()
"""


@pytest.mark.parametrize("command", [["--help"], ["incidents", "list", "--help"]])
def test_every_command_of_the_client_runs_without_the_server(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ALONE, *command], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "incidents" in done.stdout


def test_both_sides_write_figures_alike_and_know_the_same_queries() -> None:
    for name in ("delays.py", "percent.py"):
        assert (Path(kit.__path__[0]) / name).read_text("utf-8") == (Path(commands.__path__[0]) / name).read_text(
            "utf-8"
        )
    assert set(QUERIES) == set(REQUESTS)
