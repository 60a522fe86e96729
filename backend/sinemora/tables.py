"""Metadata of all tables, for migrations, the worker and the command line."""

from sinemora import compose
from sinemora.access.api_keys import models as api_keys
from sinemora.access.members import models as members
from sinemora.access.signin import models as signin
from sinemora.access.tenants import models as tenants
from sinemora.advisors.compute_mix import models as price_lists
from sinemora.alerts import models as alerts
from sinemora.applications import models as applications
from sinemora.applications.curves import models as curves
from sinemora.applications.learning import models as learning
from sinemora.artifacts import models as artifacts
from sinemora.fleet.inventory import models as inventory
from sinemora.fleet.meshes import models as meshes
from sinemora.jobs import models as jobs
from sinemora.kit import archive_state, outbox
from sinemora.kit.db import Base
from sinemora.kit.http import idempotency
from sinemora.measurements import models as measurements
from sinemora.measurements.metric_exports import models as metric_exports
from sinemora.measurements.on_demand import models as on_demand
from sinemora.measurements.pins import models as pins
from sinemora.measurements.store import sql_models, traffic_edges
from sinemora.measurements.token_buckets import models as token_buckets
from sinemora.overview.annotations import models as annotations
from sinemora.overview.embeds import models as embeds
from sinemora.overview.saved_views import models as saved_views
from sinemora.recommendations import models as recommendations
from sinemora.recommendations.what_if import models as scenarios

FEATURES = (
    idempotency,
    outbox,
    archive_state,
    tenants,
    api_keys,
    members,
    signin,
    jobs,
    inventory,
    meshes,
    measurements,
    on_demand,
    pins,
    token_buckets,
    sql_models,
    traffic_edges,
    artifacts,
    metric_exports,
    curves,
    applications,
    recommendations,
    scenarios,
    learning,
    annotations,
    saved_views,
    embeds,
    alerts,
    price_lists,
    *compose.imported("models"),
)
metadata = Base.metadata
