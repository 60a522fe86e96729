"""Status of an agent, computed from its times."""

from datetime import datetime, timedelta
from enum import StrEnum

# Time for a report to arrive and to be stored with its batch.
_SLACK = timedelta(seconds=10)


STOPPED_FOR = timedelta(minutes=30)
"""Time for which an agent that was stopped may be away, for a restart or a reboot; then it counts as silent."""


class AgentStatus(StrEnum):
    """Status of an agent: `enrolled` (never reported), `reporting`, `silent` (no recent report), `revoked`.

    `stopped`: it was stopped in the last half hour, said so, and has not started since.
    """

    enrolled = "enrolled"
    reporting = "reporting"
    silent = "silent"
    stopped = "stopped"
    revoked = "revoked"


def stopped_since(stopped_at: datetime | None, started_at: datetime | None) -> datetime | None:
    """Return the time of the last orderly stop of an agent, unless it has started since."""
    return stopped_at if stopped_at is not None and (started_at is None or started_at < stopped_at) else None


def silent_after(report_every_s: int, stale_windows: int) -> timedelta:
    """Return the time after the last report at which an agent counts as silent."""
    return timedelta(seconds=report_every_s * stale_windows) + _SLACK


def status_of(
    revoked_at: datetime | None,
    last_report_at: datetime | None,
    report_every_s: int,
    now: datetime,
    stale_windows: int,
    stopped_at: datetime | None = None,
) -> AgentStatus:
    """Return the status at `now` of an agent that reports every `report_every_s` seconds."""
    if revoked_at is not None:
        return AgentStatus.revoked
    if stopped_at is not None and now - stopped_at <= STOPPED_FOR:
        return AgentStatus.stopped
    if last_report_at is None:
        return AgentStatus.enrolled
    recent = now - last_report_at <= silent_after(report_every_s, stale_windows)
    return AgentStatus.reporting if recent else AgentStatus.silent
