from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from celery import Celery

from sinemora.kit.pulse import Scheduler


def test_beat_goes_on_after_a_step_of_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    clock = datetime(2026, 11, 29, 15, tzinfo=UTC)
    app = Celery("stepped", set_as_current=False)
    app.conf.beat_schedule = {name: {"task": name, "schedule": every_s} for name, every_s in (("a", 5.0), ("b", 20.0))}
    monkeypatch.setattr(Celery, "now", lambda _: clock)
    sent: list[str] = []
    monkeypatch.setattr(Scheduler, "apply_entry", lambda _, entry, **__: sent.append(entry.name))
    monkeypatch.setattr(Scheduler, "producer", None)
    scheduler = Scheduler(app, schedule_filename=str(tmp_path / "schedule"))
    for step_s in (0, 3600, -3600):
        clock += timedelta(seconds=step_s)
        until = clock + timedelta(seconds=61)
        sent.clear()
        while clock < until:
            clock += timedelta(seconds=max(scheduler.tick(), 0.01))
        assert sent.count("b") in (3, 4)
        assert sent.count("a") in (12, 13)
    scheduler.close()
