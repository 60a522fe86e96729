"""Routes of the compute mix, of the provider's prices, of price lists and of price bases."""

from uuid import UUID

from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.advisors.compute_mix import price_basis, price_difference, price_lists, service
from sinemora.advisors.compute_mix.basis_schemas import PriceBasisRead, PriceDifferenceRead
from sinemora.advisors.compute_mix.models import PriceList
from sinemora.advisors.compute_mix.price_schemas import PriceListCreate, PriceListRead, PriceListSample
from sinemora.advisors.compute_mix.schemas import (
    ComputeMixCreate,
    ComputeMixRead,
    ProviderPriceCreate,
    ProviderPriceRead,
    ServiceWrite,
)
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.etag import Precondition
from sinemora.kit.http.idempotency import only_reads
from sinemora.kit.http.paging import Page, Paging, Slice, paginate
from sinemora.kit.http.routes import accepts

router = signed_in_router("/v1", "advisors")


@router.post("/advisors/compute-mix", responses=responses(404, 409, 422))
@only_reads
def advise_compute_mix(body: ComputeMixCreate, session: SessionDep, actor: Viewer) -> ComputeMixRead:
    """Find the cheapest split between VMs and serverless that keeps a response target, by path. Stores nothing."""
    return service.compute_mix(session, body)


@router.post("/advisors/provider-prices", responses=responses(422))
@only_reads
def advise_provider_prices(body: ProviderPriceCreate, actor: Viewer) -> ProviderPriceRead:
    """Find the serverless prices at which the best mix switches, and the equilibrium. Stores nothing."""
    return service.provider_prices(body)


@router.get("/price-list-samples")
def list_price_list_samples(actor: Viewer) -> list[PriceListSample]:
    """List the price lists that ship with the product; import one to use it."""
    return [price_lists.sample()]


@router.get("/price-lists", response_model=Page[PriceListRead])
def list_price_lists(session: SessionDep, actor: Viewer, page: Paging) -> Slice[PriceList]:
    """List price lists by name."""
    return paginate(session, select(PriceList), page, PriceList.name)


@router.post("/price-lists", status_code=201, response_model=PriceListRead, responses=responses(409, 422))
@accepts(lambda settings: settings.data_limit_bytes)
def import_price_list(body: PriceListCreate, session: SessionDep, actor: Editor) -> PriceList:
    """Import a price list from entries, CSV or JSON text. Replaces the list of that name."""
    return price_lists.import_price_list(session, actor, body)


@router.get("/price-lists/{price_list_id}", response_model=PriceListRead, responses=responses(404))
def read_price_list(price_list_id: UUID, session: SessionDep, actor: Viewer) -> PriceList:
    """Return a price list."""
    return price_lists.get_price_list(session, price_list_id)


@router.delete("/price-lists/{price_list_id}", status_code=204, responses=responses(404))
def delete_price_list(price_list_id: UUID, session: SessionDep, actor: Editor) -> None:
    """Delete a price list."""
    price_lists.delete_price_list(session, actor, price_list_id)


@router.get("/applications/{application_id}/price-basis", responses=responses(404))
def read_price_basis(application_id: UUID, session: SessionDep, actor: Viewer) -> PriceBasisRead:
    """Return the price basis of an application: load, response target, and what may carry it."""
    return price_basis.read(session, price_basis.get(session, application_id))


@router.put("/applications/{application_id}/price-basis", responses=responses(404, 412, 422))
def set_price_basis(
    application_id: UUID, body: ServiceWrite, session: SessionDep, actor: Editor, precondition: Precondition
) -> PriceBasisRead:
    """Set the price basis of an application: recommended moves of its tasks then show their price difference."""
    return price_basis.read(session, price_basis.put(session, actor, application_id, body, precondition))


@router.delete("/applications/{application_id}/price-basis", status_code=204, responses=responses(404, 412))
def delete_price_basis(application_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition) -> None:
    """Delete the price basis of an application."""
    price_basis.delete(session, actor, application_id, precondition)


@router.get("/recommendations/{recommendation_id}/price-difference", responses=responses(404))
def read_price_difference(recommendation_id: UUID, session: SessionDep, actor: Viewer) -> PriceDifferenceRead:
    """Return how the cheapest compute mix of each moved application changes with the moves of a recommendation."""
    return price_difference.price_difference(session, recommendation_id)
