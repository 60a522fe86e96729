"""Agents as processes of this machine or of a laboratory: the identity in their state folder, and their command."""

import json
from pathlib import Path


def enrol(state: Path, backend: str, tenant_id: object, vm_id: object, vm_key: int, credential: str) -> None:
    """Create the state folder of an agent that has enrolled at a backend; its id is that of its VM."""
    state.mkdir(mode=0o700)
    identity = {
        **{"agent_id": str(vm_id), "vm_id": str(vm_id), "tenant_id": str(tenant_id)},
        **{"vm_key": vm_key, "credential": credential, "backend": backend},
    }
    (state / "identity.json").write_text(json.dumps(identity), "utf-8")
    (state / "identity.json").chmod(0o600)


def command_of(binary: Path, **settings: object) -> list[str | Path]:
    """Return the command that runs a program of the agent; an empty setting is the program's default."""
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items() if value]
    return [binary, "run", "--insecure-http", *flags]
