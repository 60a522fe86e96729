"""State of the simulated tenant in the data folder: its seed, the identities of its agents, what has been sent."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sinemora.operations.embedded.simulated.api import Identity


@dataclass
class State:
    """State of a tenant that is loaded or being loaded. Times in Unix s.

    `began_s`: when loading began, to which the times of faults refer; `sent_until_s`: start of the newest window that
    all agents have sent; 0 before the first; `is_loaded`: whether loading has ended. `agents` by name of the VM.
    """

    tenant_id: str
    seed: int
    began_s: int
    sent_until_s: int = 0
    is_loaded: bool = False
    agents: dict[str, Identity] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Replace the file, readable for its owner only: it has credentials."""
        fresh = path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            json.dump(asdict(self), file)
        fresh.rename(path)

    @classmethod
    def read(cls, path: Path) -> "State | None":
        """Invert `write`; None without a readable file."""
        try:
            fields = json.loads(path.read_text())
            agents = {name: Identity(**identity) for name, identity in fields.pop("agents").items()}
            return cls(**fields, agents=agents)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
