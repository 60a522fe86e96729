"""Threads that requests wait for: without one the process is of no use."""

import os
import signal
import threading

import structlog

log = structlog.get_logger(__name__)


class VitalThread(threading.Thread):
    """Daemon thread that ends the process when its work raises, so that a new process is started.

    Those who wait for a thread that is gone would wait without end, and everything else would look healthy.
    """

    def run(self) -> None:
        """Work, and send SIGTERM to the process if that raises."""
        try:
            super().run()
        except BaseException:
            log.exception("thread failed: the process ends", thread=self.name)
            os.kill(os.getpid(), signal.SIGTERM)
