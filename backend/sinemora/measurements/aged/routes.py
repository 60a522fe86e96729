"""HTTP of aged measurements."""

from dataclasses import replace

from sinemora.access.tenants import quotas
from sinemora.access.tenants.access import Viewer, signed_in_router
from sinemora.kit.db import SessionDep
from sinemora.kit.http.routes import BoundedRoute
from sinemora.measurements.aged.schemas import AgedRead, AgedTierRead, AgingRunRead
from sinemora.measurements.store.aged import usage

router = signed_in_router("/v1/aged-measurements", "measurements", 503, route_class=BoundedRoute)


# The reason names addresses of the operator's network: `sinemora aged list` shows it to the operator.
_FAILED = (
    "The object storage did not take all measurements. Those that were not moved stay in the database, and the next run"
    " tries again."
)


@router.get("")
def read_aged_measurements(session: SessionDep, actor: Viewer) -> AgedRead:
    """Return which old measurements are in object storage, by mesh and tier, and the newest run of ageing."""
    run = next(iter(usage.runs(session)), None)
    if run is not None and run.error is not None:
        run = replace(run, error=_FAILED)
    return AgedRead(
        after_days=quotas.limits(session).aged_after_days,
        items=[AgedTierRead.model_validate(one) for one in usage.tiers(session)],
        run=None if run is None else AgingRunRead.model_validate(run),
    )
