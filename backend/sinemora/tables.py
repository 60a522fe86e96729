"""Metadata of all tables, for migrations, the worker and the command line."""

from sinemora.advisors.compute_mix import models as price_lists
from sinemora.alerts import models as alerts
from sinemora.annotations import models as annotations
from sinemora.api_keys import models as api_keys
from sinemora.applications import models as applications
from sinemora.artifacts import models as artifacts
from sinemora.bucket_exports import models as bucket_exports
from sinemora.curves import models as curves
from sinemora.embeds import models as embeds
from sinemora.inventory import models as inventory
from sinemora.jobs import models as jobs
from sinemora.kit import archive_state, outbox
from sinemora.kit.db import Base
from sinemora.kit.http import idempotency
from sinemora.learning import models as learning
from sinemora.measurements import models as measurements
from sinemora.measurements import sql_models
from sinemora.measurements.on_demand import models as on_demand
from sinemora.measurements.pins import models as pins
from sinemora.measurements.token_buckets import models as token_buckets
from sinemora.members import models as members
from sinemora.meshes import models as meshes
from sinemora.recommendations import models as recommendations
from sinemora.saved_views import models as saved_views
from sinemora.signin import models as signin
from sinemora.simulation import models as simulations
from sinemora.tenants import models as tenants
from sinemora.what_if import models as scenarios

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
    artifacts,
    bucket_exports,
    curves,
    applications,
    recommendations,
    scenarios,
    simulations,
    learning,
    annotations,
    saved_views,
    embeds,
    alerts,
    price_lists,
)
metadata = Base.metadata
