"""The production stack hands every setting on: one forgotten in docker-compose.yml could not be changed there.

Secrets are handed on as files, so that `docker inspect` does not show them.
"""

import re
from pathlib import Path

import pytest
import yaml

from sinemora.kit.config import SECRETS, Settings

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
