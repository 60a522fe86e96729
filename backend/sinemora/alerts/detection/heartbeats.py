"""Heartbeats: receivers of this kind are called every minute while the tenant's alerts are in time.

A service outside of Sinemora notices their absence: a dead man's switch, like the alert Watchdog of kube-prometheus.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from uuid import UUID

import structlog
from sqlalchemy import func, select, update
from sqlalchemy.exc import SQLAlchemyError

from sinemora.alerts.detection import timeliness
from sinemora.alerts.models import Receiver, ReceiverKind
from sinemora.alerts.notifications import answers, delivery, messages
from sinemora.alerts.notifications.answers import PermanentError, RetryableError
from sinemora.kit import encryption
from sinemora.kit.celery import NOTICES, ROUTES, celery
from sinemora.kit.config import settings
from sinemora.kit.db import system_session, tenant_session
from sinemora.kit.errors import ProductError

log = structlog.get_logger(__name__)

EVERY_S = 60.0
# One call takes ten seconds at most, so that a sweep ends before the next one.
_SWEEP_S = 40.0
_THREADS = 16


@celery.task(name="alerts.send_heartbeats")
def send_heartbeats() -> None:
    """Call every heartbeat receiver whose tenant's alerts are in time, the first of each tenant first.

    A call that fails is not repeated: the next one follows in a minute. Its result is kept with the receiver.
    """
    until_s = time.monotonic() + _SWEEP_S
    place = func.row_number().over(partition_by=Receiver.tenant_id, order_by=(Receiver.heartbeat_at, Receiver.id))
    query = (
        select(Receiver.tenant_id, Receiver.id)
        .where(Receiver.kind == ReceiverKind.heartbeat)
        .order_by(place, Receiver.heartbeat_at.nulls_first())
    )
    with system_session() as session:
        found = session.execute(query).all()
    in_time: dict[UUID, bool] = {}
    with ThreadPoolExecutor(_THREADS) as pool:
        for tenant_id, receiver_id in found:
            if tenant_id not in in_time:
                in_time[tenant_id] = _is_in_time(tenant_id)
            if in_time[tenant_id]:
                pool.submit(_send, tenant_id, receiver_id, until_s)


def _is_in_time(tenant_id: UUID) -> bool:
    """Return whether alerts of a tenant are in time; a tenant that cannot be read, or was deleted, has none."""
    try:
        with tenant_session(tenant_id) as session:
            now = timeliness.read(session)
    except (SQLAlchemyError, LookupError) as error:
        log.warning("no heartbeat", tenant=str(tenant_id), error=str(error).strip())
        return False
    return now.evaluates and now.notifies


def _send(tenant_id: UUID, receiver_id: UUID, until_s: float) -> None:
    """Call one receiver outside of any transaction and keep the result."""
    if time.monotonic() >= until_s:
        return
    try:
        with tenant_session(tenant_id) as session:
            secret = session.scalars(select(Receiver.secret).where(Receiver.id == receiver_id)).one_or_none()
        if secret is None:  # deleted meanwhile
            return
        answer = _call(secret)
        with tenant_session(tenant_id) as session:
            result = {"heartbeat_at": datetime.now(UTC), "heartbeat_answer": answer[:500]}
            # By statement: the version of the receiver is that of people's changes.
            session.execute(update(Receiver).where(Receiver.id == receiver_id).values(result))
    except LookupError:  # the tenant was deleted
        return
    except Exception:
        log.exception("heartbeat not kept", receiver=str(receiver_id))


def _call(secret: bytes) -> str:
    try:
        answer = delivery.post(
            encryption.decrypt(secret)["url"], messages.heartbeat("heartbeat", settings().public_url)
        )
        return answers.summary(ReceiverKind.heartbeat, answer)
    except (PermanentError, RetryableError, ProductError) as error:
        return str(error)


ROUTES[send_heartbeats.name] = {"queue": NOTICES}
