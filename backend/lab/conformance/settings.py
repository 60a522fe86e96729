"""What the run hands to its hooks, which Schemathesis imports in a process of its own: callers and known ids."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

KnownIds = dict[str, list[str]]
_FILE = "conformance.json"


@dataclass(frozen=True)
class Callers:
    """The tenant whose people call, and the credential of one of its agents."""

    tenant_id: UUID
    agent_credential: str


def write(folder: Path, callers: Callers, known: KnownIds) -> None:
    """Store both in `folder`."""
    entry = {"tenant_id": str(callers.tenant_id), "agent_credential": callers.agent_credential, "known": known}
    (folder / _FILE).write_text(json.dumps(entry), "utf-8")


def read() -> tuple[Callers, KnownIds]:
    """Return what `write` stored in the folder of `SINEMORA_CONFORMANCE`."""
    entry = json.loads((Path(os.environ["SINEMORA_CONFORMANCE"]) / _FILE).read_text("utf-8"))
    return Callers(UUID(entry["tenant_id"]), entry["agent_credential"]), entry["known"]
