"""Presence of the API: it begins again after a break of its notes; while they are missing nothing counts as present."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from sqlalchemy import Engine, create_engine

from sinemora.kit.errors import ProductError
from sinemora.kit.redis import client
from sinemora.measurements.ingest import presence
from sinemora.measurements.ingest.presence import BREAK_S, present_since


@pytest.fixture
def note(monkeypatch: pytest.MonkeyPatch, servers: object) -> Callable[[], None]:
    """Note in keys of this test; the API of other tests keeps its own."""
    original = presence.note
    monkeypatch.setattr(presence, "note", lambda: None)
    monkeypatch.setattr(presence, "_NOTED_AT", "test:noted_at")
    monkeypatch.setattr(presence, "_SINCE", "test:since")
    client().delete("test:noted_at", "test:since")
    return original


def age_note(seconds: float) -> None:
    client().set("test:noted_at", time.time() - seconds)


def test_nothing_is_known_before_the_first_note(note: Callable[[], None]):
    assert present_since() is None


def test_presence_lasts_from_the_first_note_until_a_break(note: Callable[[], None]):
    note()
    first = present_since()
    age_note(BREAK_S - 5)
    note()
    assert present_since() == first
    for age_s in (BREAK_S + 1, -3600):  # the clock was stepped back
        age_note(age_s)
        note()
        assert first < present_since() <= datetime.now(UTC)


def test_while_notes_are_missing_presence_begins_now(note: Callable[[], None]):
    note()
    age_note(BREAK_S + 1)
    began_s = time.time()
    assert began_s <= present_since().timestamp() <= time.time()


def refuse_role() -> Engine:
    raise ProductError("database_role_unconfined", 503, "The role may read all tenants.")


@pytest.mark.parametrize(
    "engine", [lambda: create_engine("postgresql+psycopg://sinemora@127.0.0.1:1/none"), refuse_role]
)
def test_without_its_database_the_api_is_not_present(
    engine: Callable[[], Engine], note: Callable[[], None], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(presence, "engine", engine)
    note()
    assert present_since() is None
