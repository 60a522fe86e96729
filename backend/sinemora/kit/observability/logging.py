"""Structured logs on stderr: lines for people, or JSON for machines. Every line of a request carries its id."""

import logging
import sys

import structlog
from structlog.typing import Processor

from sinemora.kit.config import settings


def configure_logging() -> None:
    """Send logs of the product and of libraries through one renderer."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    rendering: list[Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if settings().log_format == "json"
        else [
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(),
                # Never the pretty one: it prints local variables, and some of those are secrets.
                exception_formatter=structlog.dev.plain_traceback,
            )
        ]
    )
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings().log_level.upper())
    for chatty in ("uvicorn.access", "httpx2", "celery.app.trace"):
        logging.getLogger(chatty).setLevel("WARNING")
