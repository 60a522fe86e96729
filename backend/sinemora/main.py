"""Composition of the API: routers of all features, error handling, start and stop."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import uvicorn
from fastapi import FastAPI
from sqlalchemy.orm import configure_mappers
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from sinemora import compose
from sinemora.access.api_keys import routes as api_keys
from sinemora.access.api_keys.scopes import describe_scopes
from sinemora.access.device_login import routes as device_login
from sinemora.access.members import invitation_routes as invitations
from sinemora.access.members import routes as members
from sinemora.access.signin import account_routes as account
from sinemora.access.signin import identity_provider_routes as identity_provider
from sinemora.access.signin import provider_routes as provider
from sinemora.access.signin import routes as signin
from sinemora.access.tenants import routes as tenants
from sinemora.access.tenants.access import describe_roles
from sinemora.advisors.bulk import routes as bulk
from sinemora.advisors.compute_mix import routes as compute_mix
from sinemora.advisors.fairness import routes as fairness
from sinemora.advisors.shaping import routes as shaping
from sinemora.advisors.transport import routes as transport
from sinemora.alerts import named
from sinemora.alerts.detection import routes as detection
from sinemora.alerts.detection import timeliness
from sinemora.alerts.evidence import routes as evidence
from sinemora.alerts.incidents import routes as incidents
from sinemora.alerts.notifications import routes as notifications
from sinemora.alerts.receivers import routes as receivers
from sinemora.alerts.rules import routes as rules
from sinemora.alerts.silences import routes as silences
from sinemora.applications import routes as applications
from sinemora.applications.curves import routes as curves
from sinemora.applications.learning import routes as learning
from sinemora.applications.traffic import routes as traffic
from sinemora.artifacts import routes as artifacts
from sinemora.fleet.inventory import routes as inventory
from sinemora.fleet.meshes import routes as meshes
from sinemora.fleet.meshes.watch import PlanWatch
from sinemora.jobs import routes as jobs
from sinemora.jobs.watch import ended_watch
from sinemora.kit import errors, health, listening_socket
from sinemora.kit.config import settings
from sinemora.kit.db import Base
from sinemora.kit.http.connection import server_options
from sinemora.kit.http.contract import describe_names, describe_responses
from sinemora.kit.http.document import serve_document
from sinemora.kit.http.downloads import serve_packages
from sinemora.kit.http.encoding import CompressedJson
from sinemora.kit.http.frontend import serve_frontend
from sinemora.kit.http.head import HeadAsGet
from sinemora.kit.http.middleware import HttpMiddleware
from sinemora.kit.http.routes import operation_id
from sinemora.kit.http.shared_parts import share
from sinemora.kit.observability import tracing, worker_metrics
from sinemora.kit.observability.logging import configure_logging
from sinemora.measurements import routes as measurements
from sinemora.measurements.aged import routes as aged
from sinemora.measurements.ingest import pipeline
from sinemora.measurements.ingest.dispatch import ReportDispatch
from sinemora.measurements.metric_exports import routes as metric_exports
from sinemora.measurements.on_demand import routes as on_demand
from sinemora.measurements.pins import routes as pins
from sinemora.measurements.prometheus import routes as prometheus
from sinemora.measurements.query import routes as query_routes
from sinemora.measurements.store import backlog_metrics
from sinemora.measurements.token_buckets import routes as token_buckets
from sinemora.operations.archives import routes as archives
from sinemora.overview import routes as overview
from sinemora.overview.annotations import routes as annotations
from sinemora.overview.demonstration import routes as demonstration
from sinemora.overview.embeds import routes as embeds
from sinemora.overview.saved_views import routes as saved_views
from sinemora.recommendations import routes as recommendations
from sinemora.recommendations.what_if import routes as scenarios

ROUTERS = (
    measurements.agent_router,  # first, since routers are tried in turn and reports are the most frequent requests
    health.router,
    signin.sign_in_router,
    signin.router,
    provider.router,
    identity_provider.router,
    account.router,
    account.policy_router,
    tenants.router,
    api_keys.router,
    device_login.public_router,
    device_login.router,
    members.router,
    invitations.public_router,
    invitations.router,
    archives.router,
    metric_exports.router,
    meshes.enrolment_router,
    meshes.agent_router,
    on_demand.agent_router,
    artifacts.agent_router,
    bulk.agent_router,
    inventory.agent_router,
    inventory.router,
    jobs.router,
    demonstration.router,
    meshes.router,
    measurements.router,
    on_demand.router,
    on_demand.path_router,
    aged.router,
    pins.router,
    artifacts.router,
    prometheus.router,
    query_routes.router,
    query_routes.vm_router,
    token_buckets.router,
    curves.router,
    applications.router,
    recommendations.router,
    scenarios.router,
    learning.router,
    traffic.router,
    annotations.router,
    saved_views.router,
    embeds.router,
    incidents.router,
    evidence.router,
    evidence.public_router,
    rules.router,
    detection.router,
    silences.router,
    receivers.router,
    notifications.router,
    compute_mix.router,
    fairness.router,
    transport.router,
    bulk.router,
    shaping.router,
    overview.router,
    overview.about_router,
    *(module.router for module in compose.imported("routes")),
)
# Collectors of metrics in the database and in Redis, and checks; their import registers them.
METRICS = (worker_metrics, backlog_metrics, timeliness)
# What keeps names of objects and follows new ones; its import registers it.
RENAMES = (named,)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Start and stop the background parts of the API."""
    configure_logging()
    configure_mappers()  # SQLAlchemy puts it off until the first request, which would take longer for it
    app.state.plan_watch = PlanWatch()
    app.state.job_watch = ended_watch()
    async with pipeline.lifespan(app):
        yield
    await app.state.plan_watch.close()
    await app.state.job_watch.close()
    await run_in_threadpool(tracing.stop)


class Api(FastAPI):
    """The API. Reports pass none of Starlette's middleware, except in a process that is traced."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        http: dict[str, Any] = {
            "hsts": settings().public_url.startswith("https://"),
            "body_limit_bytes": settings().body_limit_bytes,
        }
        self.add_middleware(CompressedJson)
        self.add_middleware(HeadAsGet)
        self.add_middleware(HttpMiddleware, **http)
        self.reports = ReportDispatch(measurements.report_route)
        self.answer_report = HttpMiddleware(self.reports, **http)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, or the lifespan."""
        if tracing.is_on() or not self.reports.takes(scope):
            await super().__call__(scope, receive, send)
            return
        scope["app"] = self
        await self.answer_report(scope, receive, send)


def create_app() -> FastAPI:
    """Return the API, configured by the settings."""
    app = Api(
        title="Sinemora",
        version="1",
        description="Network delay between VMs, measured by a cloud tenant. Conventions: docs/api/README.md.",
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,  # a redirect would lead to whatever host the request names
        generate_unique_id_function=operation_id,
        # `tracing` creates the spans of requests. FastAPI would search for another provider with each request.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    errors.install(app)
    errors.note_constraints(Base.metadata)
    for router in ROUTERS:
        # Not include_router: it builds each route once more, which takes a second of a processor at every start.
        app.router.routes += router.routes
    describe = app.openapi
    app.openapi = cache(lambda: _described(describe()))  # type: ignore[method-assign]
    serve_document(app, "/v1/openapi.json")
    if (packages := settings().packages_dir) is not None:
        serve_packages(app, packages)
    folder = settings().frontend_dir
    if folder is not None:
        serve_frontend(app, folder, settings().embed_hosts)
    if tracing.start("sinemora-api"):
        tracing.trace_api(app)
    return app


def _described(contract: dict[str, Any]) -> dict[str, Any]:
    """Add to the OpenAPI document what FastAPI does not know: media types of failures, roles, words of names."""
    routes = [route for router in ROUTERS for route in router.routes]
    describe_roles(contract, routes)
    describe_scopes(contract, routes)
    errors.describe(contract)
    describe_responses(contract)
    describe_names(contract)
    share(contract)
    return contract


class Server(listening_socket.ReplaceableServer):
    """Server that ends what does not end on its own before it waits for open requests: long polls, live streams."""

    def __init__(self, app: FastAPI, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.app = app

    async def end_streams(self) -> None:
        """End long polls and live streams."""
        await self.app.state.plan_watch.close()
        await self.app.state.job_watch.close()
        await self.app.state.live.close()


def server() -> Server:
    """Return the server of the API."""
    app = create_app()
    config = uvicorn.Config(app, host=settings().host, port=settings().port, **server_options())
    return Server(app, config)


def serve() -> None:
    """Run the API in the foreground until a signal stops it; SIGHUP replaces it."""
    listening_socket.run(server())
