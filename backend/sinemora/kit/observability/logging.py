"""Structured logs on stderr: lines for people, or JSON for machines. Every line of a request carries its id."""

import logging
import sys
from contextvars import ContextVar

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from sinemora.kit.config import settings

_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)


def set_request_id(request_id: str) -> None:
    """Set the id of the request that begins; its log lines carry it."""
    _request_id.set(request_id)


def _with_request_id(_: WrappedLogger, __: str, line: EventDict) -> EventDict:
    request_id = _request_id.get()
    if request_id is not None:
        line.setdefault("request_id", request_id)
    return line


def _is_not_reported(record: logging.LogRecord) -> bool:
    """Return whether a line of Celery is more than the failure of a task, which `telemetry` logs."""
    context = getattr(record, "data", None)
    return record.levelno < logging.ERROR or not isinstance(context, dict) or bool(context.get("internal"))


def configure_logging() -> None:
    """Send logs of the product and of libraries through one renderer."""
    shared: list[Processor] = [
        _with_request_id,
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
    logging.getLogger("celery.app.trace").addFilter(_is_not_reported)
