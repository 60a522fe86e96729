"""Where an agent stands, told from its dates alone."""

from datetime import datetime, timedelta
from enum import StrEnum

# A report travels and waits for its batch before it counts.
_SLACK = timedelta(seconds=10)


class AgentStatus(StrEnum):
    """`enrolled`: never reported; `reporting`; `silent`: reported once, not lately; `revoked`."""

    enrolled = "enrolled"
    reporting = "reporting"
    silent = "silent"
    revoked = "revoked"


def patience_of(report_every_s: int, stale_windows: int) -> timedelta:
    """How long after its last report an agent that owes one every so often is not silent yet."""
    return timedelta(seconds=report_every_s * stale_windows) + _SLACK


def status_of(
    revoked_at: datetime | None,
    last_report_at: datetime | None,
    report_every_s: int,
    now: datetime,
    stale_windows: int,
) -> AgentStatus:
    """Return the status at `now` of an agent that owes a report every `report_every_s` seconds."""
    if revoked_at is not None:
        return AgentStatus.revoked
    if last_report_at is None:
        return AgentStatus.enrolled
    patient = now - last_report_at <= patience_of(report_every_s, stale_windows)
    return AgentStatus.reporting if patient else AgentStatus.silent
