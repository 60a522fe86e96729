"""The production stack hands every setting on: one forgotten in docker-compose.yml could not be changed there.

Secrets are handed on as files, so that `docker inspect` does not show them.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest
import yaml

from sinemora.kit.config import SECRETS, Settings
from tests import seeds

ROOT = Path(__file__).resolve().parents[2]
STACK = ROOT / "docker-compose.yml"
PARTS = ("mail", "single-sign-on", "storage", "archive", "traces", "acme")
ADDED = [ROOT / "infra" / "docker" / f"{name}.yml" for name in PARTS]
# Addresses without passwords: those are in files.
ADDRESSES = {f"database{role}_url" for role in ("", "_owner", "_system", "_archive")} | {"redis_url", "traces_url"}

# Settled by the images and the stack itself, or meant for the embedded default only.
SETTLED = {
    "data_dir",
    "demo_agents",
    "demo_story",
    "frontend_dir",
    "owner_email",
    "owner_password",
    "service_user",
}


def test_every_setting_reaches_the_stack() -> None:
    text = "".join(path.read_text() for path in (STACK, *ADDED))
    handed_on = {name.lower() for name in re.findall(r"^ +SINEMORA_(\w+):", text, re.MULTILINE)}
    secrets = SECRETS - ADDRESSES
    assert set(Settings.model_fields) - SETTLED - secrets <= handed_on
    assert {f"{name}_file" for name in secrets - SETTLED} <= handed_on
    assert not handed_on & (secrets - SETTLED)


@pytest.mark.parametrize("added", [None, *ADDED], ids=lambda path: path.stem if path else "stack")
def test_a_service_has_the_secrets_that_it_reads_and_no_others(added: Path | None) -> None:
    stack = yaml.safe_load((added or STACK).read_text())
    for name, service in stack["services"].items():
        environment = (service.get("environment") or {}).items()
        read = {str(value).rsplit("/", 1)[1] for _, value in environment if str(value).startswith("/run/secrets/")}
        read |= set(re.findall(r"/run/secrets/(\w+)", str(service.get("entrypoint", ""))))
        if name == "database":  # the script of its roles reads them
            more = {"database_password", "database_system_password"}
            read |= {"database_archive_password"} if added else more
        assert read == set(service.get("secrets", [])) or name == "proxy", name
        assert not [value for _, value in environment if re.search(r"://[^/@]*:[^/@]*@", str(value))], name
    assert all(
        entry["file"] == f"${{SINEMORA_SECRETS_DIR:-./secrets}}/{name}"
        for name, entry in stack.get("secrets", {}).items()
    )


# Each start of docker-compose takes half a second, so one process loads all combinations.
LOAD = """
import shlex, sys
from compose.cli import main as cli
for line in sys.stdin.read().splitlines():
    sys.argv = ["docker-compose", *shlex.split(line), "config", "--quiet"]
    try:
        cli.main()
    except SystemExit as end:
        if end.code:
            print("refused:", line, flush=True)
"""


def test_a_real_compose_loads_every_pair_of_parts_and_all(tmp_path: Path) -> None:
    program = shutil.which("docker-compose")
    assert program is not None
    text = Path(program).read_text("utf-8")  # the script of Debian, or the one that leads to its unpacked package
    modules = re.search(r"PYTHONPATH=(.+)", text)
    python = sys.executable if modules else text.splitlines()[0].removeprefix("#!")
    parts = dict(zip(PARTS, ADDED, strict=True))
    chosen = [
        names
        for length in (range(len(PARTS) + 1) if seeds.ALL else (0, 1, 2, len(PARTS)))
        for names in combinations(PARTS, length)
        if "archive" not in names or "storage" in names  # the archive is kept in the storage
    ]
    lines = [
        shlex.join(word for path in (STACK, *(parts[name] for name in names)) for word in ("-f", str(path)))
        for names in chosen
    ]
    environment = os.environ | {
        "SINEMORA_PUBLIC_URL": "https://sinemora.example.com",
        "SINEMORA_SECRETS_DIR": str(tmp_path),
        "PYTHONPATH": shlex.split(modules[1])[0] if modules else "",
    }
    for more in ({}, {"SINEMORA_STORAGE_CA_FILE": "/etc/ssl/company.pem"}):
        done = subprocess.run(
            [python, "-c", LOAD],
            input="\n".join(lines),
            env=environment | more,
            text=True,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), more
