"""The client's package: generated from the contract, complete, and its command line runs without the server."""

import inspect
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from generator.files import CLIENT, CONTRACT, write_client
from sinemora import kit
from sinemora.measurements.query.requests import REQUESTS
from sinemora_client import Client, commands
from sinemora_client.commands.measurements import QUERIES


def test_a_tag_that_is_gone_leaves_no_module_and_nothing_is_written_twice(tmp_path: Path):
    gone = tmp_path / "operations" / "gone.py"
    gone.parent.mkdir()
    gone.touch()
    write_client(tmp_path)
    assert not gone.exists()
    written = (tmp_path / "models.py").stat().st_mtime_ns
    write_client(tmp_path)
    assert (tmp_path / "models.py").stat().st_mtime_ns == written


def test_every_operation_of_keys_is_a_method():
    contract = json.loads(CONTRACT.read_text())
    missing = [
        operation["operationId"]
        for item in contract["paths"].values()
        for operation in item.values()
        if operation["x-required-role"] not in ("none", "agent")
        and not operation.get("x-person-only")
        and not inspect.isfunction(getattr(Client, operation["operationId"], None))
    ]
    assert missing == ["listen"]  # a stream without an end: `Client.stream`


def test_the_wheel_has_types_and_needs_nothing_of_the_product(tmp_path: Path):
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=CLIENT.parent,
        check=True,
        capture_output=True,
        timeout=60,
    )
    (wheel,) = tmp_path.glob("sinemora_client-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "sinemora_client/py.typed" in names
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"sinemora_client"}
    code = (
        "import sys, sinemora_client\nassert '.whl' in sinemora_client.__file__\n"
        "assert not {name.split('.')[0] for name in sys.modules} & {'sinemora', 'fastapi', 'sqlalchemy', 'pydantic'}\n"
        "from importlib.metadata import version\nassert version('sinemora-client')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(wheel)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


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
