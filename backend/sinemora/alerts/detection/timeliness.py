"""Whether alerts are in time: for /readyz, the metrics, the console, and receivers that expect a heartbeat."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from sqlalchemy.orm import Session

from sinemora.alerts.detection import queries
from sinemora.alerts.notifications import queries as notification_queries
from sinemora.kit import checks
from sinemora.kit.db import system_session
from sinemora.kit.observability.telemetry import at_scrape

BEHIND_S = 30.0
"""Delay from which evaluation or notifications are reported as late, s: half of the minute in which an alert is due."""


@dataclass(frozen=True, slots=True)
class Timeliness:
    """Delays of alerts in s, 0 where nothing is due. `evaluated_at`: when the worst mesh was evaluated last.

    `waiting_since`: when the notification was due that waits longest. `windows_skipped`: windows never evaluated.
    """

    evaluation_lag_s: float
    evaluated_at: datetime | None
    delivery_age_s: float
    waiting_since: datetime | None
    windows_skipped: int

    @property
    def evaluates(self) -> bool:
        """Return whether alert rules are evaluated in time."""
        return self.evaluation_lag_s <= BEHIND_S

    @property
    def notifies(self) -> bool:
        """Return whether notifications are sent in time. Retries to a receiver that fails are not late."""
        return self.delivery_age_s <= BEHIND_S


def read(session: Session) -> Timeliness:
    """Return how late alerts are: of all tenants in a system session, else of what the caller may see."""
    lag = queries.evaluation_lag(session)
    waiting_since, age_s = notification_queries.waiting_longest(session)
    return Timeliness(lag.lag_s, lag.evaluated_at, age_s, waiting_since, lag.skipped)


def _metrics() -> Iterator[Metric]:
    """Yield the delays over all tenants. SQLAlchemyError."""
    with system_session() as session:
        now = read(session)
    yield GaugeMetricFamily(
        "sinemora_alert_evaluation_lag_seconds",
        "Time since the oldest due window that is not evaluated could have been, of the worst mesh; 0 if none is due.",
        value=now.evaluation_lag_s,
    )
    yield CounterMetricFamily(
        "sinemora_alert_windows_skipped", "Windows that no alert rule was evaluated on.", value=now.windows_skipped
    )
    yield GaugeMetricFamily(
        "sinemora_delivery_oldest_age_seconds",
        "Time since the notification that waits longest was due; 0 when none is.",
        value=now.delivery_age_s,
    )


def _evaluation_problem() -> str | None:
    with system_session() as session:
        is_late = queries.evaluation_lag(session).lag_s > BEHIND_S
    return "alert rules are evaluated late: new incidents are not detected in time" if is_late else None


def _notifications_problem() -> str | None:
    with system_session() as session:
        _, age_s = notification_queries.waiting_longest(session)
    return "notifications wait: receivers are not notified in time" if age_s > BEHIND_S else None


at_scrape(_metrics)
checks.add("evaluation", _evaluation_problem)
checks.add("notifications", _notifications_problem)
