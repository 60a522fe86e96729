"""The application of Celery: `celery -A sinemora.worker worker` and `… beat`."""

from sinemora.kit import collector

with collector.paused():
    from sinemora.schedule import app

__all__ = ["app"]
