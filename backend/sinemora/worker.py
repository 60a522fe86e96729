"""The application of Celery: `celery -A sinemora.worker worker` and `… beat`."""

import gc

gc.disable()  # while it imports what stays to the end, the collector takes a quarter of the time and finds nothing
from sinemora.schedule import app  # noqa: E402

gc.enable()

__all__ = ["app"]
