"""Status of an agent, computed from its times."""

from datetime import datetime, timedelta
from enum import StrEnum

# Time for a report to arrive and to be stored with its batch.
_SLACK = timedelta(seconds=10)


class AgentStatus(StrEnum):
    """Status of an agent: `enrolled` (never reported), `reporting`, `silent` (no recent report), `revoked`."""

    enrolled = "enrolled"
    reporting = "reporting"
    silent = "silent"
    revoked = "revoked"


def silent_after(report_every_s: int, stale_windows: int) -> timedelta:
    """Return the time after the last report at which an agent counts as silent."""
    return timedelta(seconds=report_every_s * stale_windows) + _SLACK


def status_of(
    revoked_at: datetime | None,
    last_report_at: datetime | None,
    report_every_s: int,
    now: datetime,
    stale_windows: int,
) -> AgentStatus:
    """Return the status at `now` of an agent that reports every `report_every_s` seconds."""
    if revoked_at is not None:
        return AgentStatus.revoked
    if last_report_at is None:
        return AgentStatus.enrolled
    recent = now - last_report_at <= silent_after(report_every_s, stale_windows)
    return AgentStatus.reporting if recent else AgentStatus.silent
