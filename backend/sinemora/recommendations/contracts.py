"""What an application's contract has become: kept time, budget, what broke it, and the moves made for it."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.alerts.models import Incident, Receiver
from sinemora.applications import contracts
from sinemora.applications.models import Application
from sinemora.applications.schemas import Named
from sinemora.applications.service import get_application
from sinemora.kit import outbox
from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError, invalid
from sinemora.kit.mail import Mail
from sinemora.kit.percent import percent
from sinemora.recommendations import queries
from sinemora.recommendations.models import OPEN, Recommendation
from sinemora.recommendations.schemas import BreachRead, ContractRead

_BREACHES_MAX = 20
DAY = timedelta(days=1)
MAILED = Receiver.settings["contract_report"].as_boolean()
"""Condition: a receiver gets the report of each month by mail."""
_MAIL = "contract_report"
_MAIL_VALID = 3 * DAY


def read(session: Session, application_id: UUID, month: str | None = None, now: datetime | None = None) -> ContractRead:
    """Return the account of a contract over the last thirty days, or over a month (UTC).

    ProductError `application_unknown`, `contract_unknown`, `request_invalid`.
    """
    application = get_application(session, application_id)
    if application.kept_share is None or application.objective is None:
        raise ProductError("contract_unknown", 404, f"No contract: {application.name} states no kept_share.")
    return _read(session, application, *_span(month, now or datetime.now(UTC)))


def report(session: Session, month: str | None = None) -> list[ContractRead]:
    """Return the account of every contract of the tenant by name. ProductError `request_invalid`."""
    span = _span(month, datetime.now(UTC))
    stated = select(Application).where(Application.kept_share.is_not(None)).order_by(Application.name)
    return [_read(session, application, *span) for application in session.scalars(stated)]


def mail_report(session: Session, now: datetime) -> None:
    """Mail the report of last month, once, to each address of the receivers that want it; none without contracts.

    ProductError `mail_unavailable`, `secret_key_missing`, `too_many_mails`.
    """
    first = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    # The lock lets another run wait, and see the mails of this one.
    receivers = session.scalars(select(Receiver).where(MAILED).order_by(Receiver.id).with_for_update()).all()
    to = {address.lower() for receiver in receivers for address in receiver.settings["to"]}
    to -= outbox.recipients(session, _MAIL, first)
    month = f"{first - DAY:%Y-%m}"
    if to and (accounts := report(session, month)):
        link = f"{settings().public_url}/contracts?month={month}"
        page = [f"Contracts of applications in {month} (UTC):", *map(_lines, accounts), f"The report: {link}"]
        for address in sorted(to):
            outbox.post(session, _MAIL, Mail(address, f"Contracts in {month}", page), _MAIL_VALID)


def _lines(account: ContractRead) -> str:
    """Return an account as text: what was stated and kept, the budget left, and what broke it."""
    stated = f"at least {percent(account.objective)} of its best in {percent(account.kept_share, 2)} of the time"
    kept = "nothing measured" if account.kept is None else f"kept {percent(account.kept, 2)}"
    left = f"{account.budget_left_s / 60:,.0f} of {account.budget_s / 60:,.0f} min of the budget left"
    broken = [f"  {one.broken_s / 60:,.0f} min: {one.title}" for one in account.breaches]
    return "\n".join([f"{account.application.name}: {kept} ({stated}), {left}", *broken])


def _span(month: str | None, now: datetime) -> tuple[datetime, datetime]:
    if month is None:
        return now - contracts.PERIOD, now
    try:
        start = datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC)
    except ValueError:
        raise invalid([{"pointer": "#/query/month", "message": "Write a month as 2026-11."}]) from None
    return start, (start + timedelta(days=32)).replace(day=1)


def _read(session: Session, application: Application, start: datetime, end: datetime) -> ContractRead:
    assert application.kept_share is not None and application.objective is not None  # noqa: PT018
    found = contracts.account(session, application.id, start, end)
    budget_s = round((1 - application.kept_share) * (end - start).total_seconds())
    made = queries.moves_since(session, [application.mesh_id], datetime.now(UTC) - DAY)[application.id]
    return ContractRead.from_row(
        application,
        application=Named.model_validate(application),
        started_at=start,
        ended_at=end,
        kept=found.kept,
        measured_s=found.measured_s,
        broken_s=found.measured_s - found.kept_s,
        budget_s=budget_s,
        budget_left_s=budget_s - (found.measured_s - found.kept_s),
        moves_today=made,
        breaches=_breaches(session, application, start, end),
        recommendation_id=_proposal(session, application),
    )


def _breaches(session: Session, application: Application, start: datetime, end: datetime) -> list[BreachRead]:
    """Return the incidents in whose time the objective was not reached, those that took most time first."""
    of_time = (Incident.onset_at < end, (Incident.ended_at.is_(None)) | (Incident.ended_at > start))
    rows = session.scalars(
        select(Incident)
        .where(Incident.mesh_id == application.mesh_id, Incident.merged_into.is_(None), *of_time)
        .where(Incident.applications.contains([{"id": str(application.id)}]))
        .order_by(Incident.onset_at.desc())
        .limit(_BREACHES_MAX)
    )
    found = []
    for row in rows:
        # A quarter that an incident begins or ends in counts as a whole.
        first = row.onset_at.replace(minute=row.onset_at.minute // 15 * 15, second=0, microsecond=0)
        lost = contracts.account(session, application.id, max(first, start), min(row.ended_at or end, end))
        if lost.measured_s > lost.kept_s:
            broken_s = lost.measured_s - lost.kept_s
            times = {"onset_at": row.onset_at, "ended_at": row.ended_at}
            found.append(BreachRead(incident_id=row.id, title=row.title, broken_s=broken_s, **times))
    return sorted(found, key=lambda one: -one.broken_s)


def _proposal(session: Session, application: Application) -> UUID | None:
    """Return the newest recommendation with a move of an application that can still be applied."""
    return session.scalar(
        select(Recommendation.id)
        .where(Recommendation.mesh_id == application.mesh_id, Recommendation.state.in_(OPEN))
        .where(Recommendation.moves.contains([{"application": {"id": str(application.id)}}]))
        .order_by(Recommendation.created_at.desc())
        .limit(1)
    )
