"""OpenTelemetry traces: requests, SQL statements and background tasks, sent to a collector by OTLP over HTTP.

Off unless `SINEMORA_TRACES_URL` names a collector: nothing of the SDK is imported then. OpenTelemetry's own variables
(`OTEL_SERVICE_NAME`, `OTEL_TRACES_SAMPLER`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_BSP_…`) apply too;
`SINEMORA_TRACES_HEADERS`, which may be in a file, replaces the headers.
"""

import os
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import ExceptionContext

from sinemora.kit.config import settings

if TYPE_CHECKING:
    from fastapi import FastAPI
    from opentelemetry.sdk.trace import TracerProvider

# Probes arrive every few seconds and would outnumber other requests. Streams never end.
_NOT_TRACED = "healthz,readyz,metrics,/live"

_STATEMENT_SHOWN = 2_000

_provider: "TracerProvider | None" = None


def start(service: str) -> bool:
    """Start tracing this process as `service` if the settings enable it. Return whether they do. Safe to repeat."""
    global _provider
    if not settings().traces_url:
        return False
    if _provider is None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.instrumentation.celery import CeleryInstrumentor
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.util.re import parse_env_headers

        named = {"service.name": os.environ.get("OTEL_SERVICE_NAME") or service, "service.version": version("sinemora")}
        _provider = TracerProvider(resource=Resource.create(named))
        given = settings().traces_headers
        headers = parse_env_headers(given.get_secret_value(), liberal=True) if given else None
        exporter = OTLPSpanExporter(endpoint=settings().traces_url, headers=headers)
        _provider.add_span_processor(BatchSpanProcessor(exporter))
        CeleryInstrumentor().instrument(tracer_provider=_provider)  # type: ignore[no-untyped-call]
    return True


def is_on() -> bool:
    """Return whether this process is traced."""
    return _provider is not None


def stop() -> None:
    """Send the remaining spans and stop tracing."""
    global _provider
    if _provider is None:
        return
    from opentelemetry.instrumentation.celery import CeleryInstrumentor

    CeleryInstrumentor().uninstrument()  # type: ignore[no-untyped-call]
    _provider.shutdown()
    _provider = None


def trace_api(app: "FastAPI") -> None:
    """Give each request of `app` a span, if this process is traced."""
    if _provider is not None:
        from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor

        FastAPIInstrumentor.instrument_app(
            app,
            tracer_provider=_provider,
            excluded_urls=_NOT_TRACED,
            exclude_spans=["receive", "send"],  # one span for each part of a body
        )


def trace_engine(engine: Engine) -> None:
    """Give each statement of `engine` a span below the current one. Spans contain no values of parameters.

    SQLAlchemy's events are used: OpenTelemetry's instrumentation does not know SQLAlchemy 2.1.
    """
    event.listen(engine, "before_cursor_execute", _statement_begins)
    event.listen(engine, "after_cursor_execute", _statement_ended)
    event.listen(engine, "handle_error", _statement_failed)


def _statement_begins(_: Connection, cursor: Any, statement: str, params: Any, context: Any, many: bool) -> None:
    if _provider is None or context is None:
        return
    from opentelemetry import trace

    if trace.get_current_span().get_span_context().is_valid:
        operation = statement.split(None, 1)[0].upper() if statement.strip() else "SQL"
        context.sinemora_span = _provider.get_tracer("sinemora").start_span(
            operation,
            kind=trace.SpanKind.CLIENT,
            attributes={
                "db.system.name": "postgresql",
                "db.operation.name": operation,
                "db.query.text": statement[:_STATEMENT_SHOWN],
            },
        )


def _statement_ended(_: Connection, cursor: Any, statement: str, params: Any, context: Any, many: bool) -> None:
    if current := getattr(context, "sinemora_span", None):
        current.end()


def _statement_failed(failure: ExceptionContext) -> None:
    if current := getattr(failure.execution_context, "sinemora_span", None):
        from opentelemetry.trace import Status, StatusCode

        # The driver's message may quote values: the span contains its type only.
        current.set_status(Status(StatusCode.ERROR, type(failure.original_exception).__name__))
        current.end()


def span(name: str, **attributes: Any) -> AbstractContextManager[Any]:
    """Return a span around work outside a request or task."""
    if _provider is None:
        return nullcontext()
    return _provider.get_tracer("sinemora").start_as_current_span(name, attributes=attributes)


def set_attributes(**attributes: str) -> None:
    """Set attributes of the current span."""
    if _provider is not None:
        from opentelemetry import trace

        trace.get_current_span().set_attributes(attributes)
