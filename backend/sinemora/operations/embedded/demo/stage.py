"""Stage of the demonstration: the settings that the supervisor passes to the process that plays the story."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sinemora.operations.embedded.demo.machines import Machine


@dataclass(frozen=True)
class Stage:
    """Machines of the demonstration, the relay's program and its configuration."""

    machines: Sequence[Machine]
    delaybox: Path
    relay_file: Path

    def write(self, path: Path) -> None:
        """Write it to a file."""
        path.write_text(json.dumps(asdict(self), default=str))

    @classmethod
    def read(cls, path: Path) -> "Stage":
        """Invert `write`."""
        fields = json.loads(path.read_text())
        machines = [Machine(**one | {"state_dir": Path(one["state_dir"])}) for one in fields["machines"]]
        return cls(machines, Path(fields["delaybox"]), Path(fields["relay_file"]))
