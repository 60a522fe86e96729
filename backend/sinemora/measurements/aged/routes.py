"""HTTP of aged measurements."""

from fastapi import APIRouter

from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.routes import BoundedRoute
from sinemora.measurements.aged.schemas import AgedRead, AgedTierRead, AgingRunRead
from sinemora.measurements.store.aged import usage
from sinemora.tenants import quotas
from sinemora.tenants.access import SignedIn, Viewer

router = APIRouter(
    prefix="/v1/aged-measurements",
    dependencies=[SignedIn],
    route_class=BoundedRoute,
    tags=["measurements"],
    responses=responses(401, 403, 429, 503),
)


@router.get("")
def read_aged_measurements(session: SessionDep, actor: Viewer) -> AgedRead:
    """Return which old measurements are in object storage, by mesh and tier, and the newest run of ageing."""
    runs = usage.runs(session)
    return AgedRead(
        after_days=quotas.limits(session).aged_after_days,
        items=[AgedTierRead.model_validate(one) for one in usage.tiers(session)],
        run=AgingRunRead.model_validate(runs[0]) if runs else None,
    )
