"""Every table of the product, so that metadata is complete: for migrations, the worker and the command line."""

from sinemora.alerts import models as alerts
from sinemora.inventory import models as inventory
from sinemora.jobs import models as jobs
from sinemora.kit import idempotency
from sinemora.kit.db import Base
from sinemora.measurements import models as measurements
from sinemora.measurements.pins import models as pins
from sinemora.meshes import models as meshes
from sinemora.recommender import models as recommender
from sinemora.recommender.applications import models as applications
from sinemora.recommender.learning import models as learning
from sinemora.recommender.recommendations import models as recommendations
from sinemora.recommender.scenarios import models as scenarios
from sinemora.recommender.simulations import models as simulations
from sinemora.tenants import models as tenants

FEATURES = (
    idempotency,
    tenants,
    jobs,
    inventory,
    meshes,
    measurements,
    pins,
    recommender,
    applications,
    recommendations,
    scenarios,
    simulations,
    learning,
    alerts,
)
metadata = Base.metadata
