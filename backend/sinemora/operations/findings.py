"""Faults that a verification finds, and what it looked at."""

from dataclasses import dataclass, field
from datetime import datetime

_SHOWN = 20


@dataclass(frozen=True)
class Fault:
    """Faulty row, and what can be done."""

    table: str
    row: str
    what: str
    repair: str


@dataclass
class Findings:
    """Result of a check."""

    frames: dict[str, int] = field(default_factory=dict)
    rosters: int = 0
    aged_objects: int = 0
    faults: int = 0
    shown: list[Fault] = field(default_factory=list)
    minutes_compared: int = 0
    zone_minutes_compared: int = 0
    minutes_to_merge: set[tuple[int, int, datetime]] = field(default_factory=set)
    """Tenant, mesh and start of the minutes that a repair merges again."""

    def add(self, fault: Fault) -> None:
        """Count a fault. The first ones are kept for the output."""
        self.faults += 1
        if len(self.shown) < _SHOWN:
            self.shown.append(fault)
