"""Presence of the API: since when reports could be stored without a break, by any of its processes.

An agent is silent only if it could have reported. While the API or the database was away none could, and afterwards all
need some time to send what they kept. Each process of the API notes in Redis that it lives and reaches its database.
"""

import asyncio
import time
from datetime import UTC, datetime

import structlog
from redis import RedisError
from sqlalchemy import text
from starlette.concurrency import run_in_threadpool

from sinemora.kit.db import engine
from sinemora.kit.redis import client

log = structlog.get_logger(__name__)

BEAT_S = 5.0
BREAK_S = 20.0
"""A longer time without a note is a break: four notes are missing."""
_NOTED_AT, _LEFT, _SINCE = "ingest:noted_at", "ingest:left", "ingest:since"


async def keep_noting() -> None:
    """Note the presence of this process until cancelled."""
    while True:
        await run_in_threadpool(note)
        await asyncio.sleep(BEAT_S)


def note() -> None:
    """Note that reports can be stored now, if the database answers; without Redis nothing is noted."""
    try:
        with engine().connect() as connection:
            connection.execute(text("SELECT 1"))
        # The time after the answer: a database that stood still meanwhile was away.
        now_s = time.time()
        noted_s = client().get(_NOTED_AT)
        if noted_s is None or abs(now_s - float(noted_s)) > BREAK_S:  # or the clock was stepped
            client().mset({_SINCE: now_s, _LEFT: now_s if noted_s is None else float(noted_s)})
        client().set(_NOTED_AT, now_s)
    except Exception as error:  # whatever it is: without notes no silence is noticed, and the next may succeed
        log.info("presence not noted", error=str(error).strip())


def last_break() -> tuple[float, float] | None:
    """Return when reports could be stored before the last break, and again (Unix s); None if that is not known."""
    try:
        left_s, since_s = client().mget(_LEFT, _SINCE)
    except RedisError:
        return None
    return None if left_s is None or since_s is None else (float(left_s), float(since_s))


def present_since() -> datetime | None:
    """Return since when reports can be stored without a break; now while they cannot; None if that is not known."""
    try:
        noted_s, since_s = client().mget(_NOTED_AT, _SINCE)
    except RedisError:
        return None
    if noted_s is None or since_s is None:
        return None
    now_s = time.time()
    return datetime.fromtimestamp(now_s if abs(now_s - float(noted_s)) > BREAK_S else float(since_s), UTC)
