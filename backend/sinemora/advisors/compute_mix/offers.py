"""VM types and serverless offers of a question, with the prices they have there or in a price list."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from sinemora.advisors.compute_mix import price_lists
from sinemora.advisors.compute_mix.core import mix as core
from sinemora.advisors.compute_mix.core.mix import Mix, Serverless, VmType
from sinemora.advisors.compute_mix.core.queueing import Service, Target
from sinemora.advisors.compute_mix.schemas import ServerlessWrite, ServiceWrite
from sinemora.kit.errors import ProductError

_BY_PERCENTILE = {50.0: "p50", 90.0: "p90", 95.0: "p95", 99.0: "p99", 99.9: "p999"}


@dataclass(frozen=True, slots=True)
class PricedService:
    """Service with all prices known. `load_per_s` is in jobs per second."""

    load_per_s: float
    target: Target
    vm_types: list[VmType]
    serverless: Serverless | None
    currency: str | None

    @property
    def statistic(self) -> str:
        """Return the stored statistic of delays at or above the target's."""
        if self.target.percentile is None:
            return "mean"
        wanted = self.target.percentile
        return next((name for at, name in _BY_PERCENTILE.items() if wanted <= at), "p999")

    def mix(self, outbound_us: float, inbound_us: float) -> Mix:
        """Return the cheapest mix behind a path with these one-way delays."""
        network_s = (outbound_us + inbound_us) / 1e6
        return core.mix(self.load_per_s, self.target, self.vm_types, self.serverless, network_s)


def priced(session: Session, body: ServiceWrite) -> PricedService:
    """Look up all prices. ProductError `price_missing`, `price_unknown`, `price_ambiguous`, `price_list_unknown`."""
    currency = None if body.price_list_id is None else price_lists.get_price_list(session, body.price_list_id).currency
    return PricedService(
        body.load_per_s,
        Target(body.target.response_ms / 1e3, body.target.percentile),
        _vm_types(session, body),
        None if body.serverless is None else _serverless(session, body, body.serverless),
        currency,
    )


def reason(found: Mix) -> str | None:
    """Return why there is no mix; None if there is one."""
    if found.best is not None:
        return None
    if found.budget_s <= 0:
        return "The network alone takes longer than the response target."
    fastest = min(option.vm.service.mean_s for option in found.options) * 1e3
    return (
        f"Neither a VM nor serverless keeps the response within {found.budget_s * 1e3:.3g} ms:"
        f" a job takes {fastest:.3g} ms on the fastest idle VM."
    )


def _vm_types(session: Session, body: ServiceWrite) -> list[VmType]:
    found = []
    for at, vm in enumerate(body.vm_types):
        price = vm.price_per_hour
        if price is None and body.price_list_id is not None:
            price = price_lists.vm_price(session, body.price_list_id, vm.name, f"#/vm_types/{at}/name")
        if price is None:
            raise _price_missing(f"#/vm_types/{at}/price_per_hour", vm.name)
        found.append(VmType(vm.name, price, Service(vm.service_ms / 1e3, vm.variation)))
    return found


def _serverless(session: Session, body: ServiceWrite, offer: ServerlessWrite) -> Serverless:
    per_gb_second, per_million = offer.price_per_gb_second, offer.price_per_million_requests
    if offer.price_per_busy_hour is not None:
        busy_second = offer.price_per_busy_hour / 3600
    else:
        if per_gb_second is None and body.price_list_id is not None and offer.name is not None:
            per_gb_second, listed = price_lists.serverless_price(
                session, body.price_list_id, offer.name, "#/serverless/name"
            )
            per_million = listed if per_million is None else per_million
        if per_gb_second is None:
            raise _price_missing("#/serverless/price_per_gb_second", offer.name or "serverless")
        busy_second = per_gb_second * offer.memory_gb
    cold_s = offer.cold_ms / 1e3
    busy_s = offer.service_ms / 1e3 + (offer.cold_share * cold_s if offer.cold_billed else 0.0)
    return Serverless(
        Service(offer.service_ms / 1e3, offer.variation),
        busy_second * busy_s + (per_million or 0.0) / 1e6,
        offer.cold_share,
        cold_s,
    )


def _price_missing(pointer: str, name: str) -> ProductError:
    return ProductError(
        "price_missing",
        422,
        f"No price: {name} has none. Give it here, or choose a price list.",
        errors=[{"pointer": pointer, "message": "is required without a price list"}],
    )
