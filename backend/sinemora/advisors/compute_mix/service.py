"""Use cases of the compute mix and of the provider's prices."""

from dataclasses import replace

import numpy as np
from sqlalchemy.orm import Session

from sinemora.advisors.compute_mix import price_lists
from sinemora.advisors.compute_mix.core import load_profile, market
from sinemora.advisors.compute_mix.core.market import Market, Peak
from sinemora.advisors.compute_mix.core.mix import Mix, Option, Serverless, VmType, cost_curve, mix
from sinemora.advisors.compute_mix.core.queueing import Service, Target
from sinemora.advisors.compute_mix.core.split import Regime, Split
from sinemora.advisors.compute_mix.schemas import (
    ComputeMixCreate,
    ComputeMixRead,
    CostCurveRead,
    HourRead,
    PathMixRead,
    PathWrite,
    PeakRead,
    ProfileRead,
    ProviderPriceCreate,
    ProviderPriceRead,
    ServerlessWrite,
    SplitRead,
    VmOptionRead,
)
from sinemora.advisors.measured_path import member_named, path_delays
from sinemora.kit.errors import ProductError
from sinemora.meshes.service import mesh_state
from sinemora.recommendations.service import resolve_mesh

_CURVE_POINTS = 241
_BY_PERCENTILE = {50.0: "p50", 90.0: "p90", 95.0: "p95", 99.0: "p99", 99.9: "p999"}


def compute_mix(session: Session, body: ComputeMixCreate) -> ComputeMixRead:
    """Return the cheapest mix for each path.

    ProductError `price_missing`, `price_unknown`, `price_list_unknown`, `mesh_unknown`, `vm_not_in_mesh`,
    `path_unmeasured`, `path_same_ends`.
    """
    target = Target(body.target.response_ms / 1e3, body.target.percentile)
    vm_types = _vm_types(session, body)
    serverless = None if body.serverless is None else _serverless(session, body, body.serverless)
    currency = None if body.price_list_id is None else price_lists.get_price_list(session, body.price_list_id).currency
    statistic = body.statistic or ("mean" if target.percentile is None else _nearest(target.percentile))
    paths = [_known(path) for path in body.paths] or [("no network", 0.0, 0.0)]
    measured = [path.source is not None for path in body.paths] or [False]
    if any(measured):
        paths = _measured(session, body, statistic)
    reads: list[PathMixRead] = []
    for (label, outbound_us, inbound_us), of_mesh in zip(paths, measured, strict=True):
        found = mix(body.load_per_s, target, vm_types, serverless, (outbound_us + inbound_us) / 1e6)
        read = _path_read(found, label, outbound_us, inbound_us, body)
        base = (reads or [read])[0]
        reads.append(
            read.model_copy(
                update={"statistic": statistic if of_mesh else None, "difference_per_hour": _difference(read, base)}
            )
        )
    return ComputeMixRead(
        currency=currency, job_price=None if serverless is None else serverless.job_price, paths=reads
    )


def provider_prices(body: ProviderPriceCreate) -> ProviderPriceRead:
    """Return the provider's profit by price, the switching prices and the equilibrium."""
    seen = Market(
        body.load_per_s,
        body.vm_rate_per_s,
        body.serverless_rate_per_s,
        body.vm_price_per_hour,
        body.vm_cost_per_hour,
        body.utilisation_max,
    )
    highest = 1.25 * (seen.switch_to_vms or 2 * seen.switch_to_mixed)
    switches = [price for price in (seen.switch_to_mixed, seen.switch_to_vms) if price is not None]
    # Both sides of a switch, so that the drop of the profit is drawn as one.
    around = [price * factor for price in switches for factor in (1.0, 1.000001)]
    prices = np.unique(np.concatenate([np.linspace(0, highest, _CURVE_POINTS)[1:], around]))
    prices = prices[prices <= highest]
    return ProviderPriceRead(
        switch_to_mixed=seen.switch_to_mixed,
        switch_to_vms=seen.switch_to_vms,
        peaks=[_peak_read(peak) for peak in market.peaks(seen)],
        equilibrium=_peak_read(market.equilibrium(seen)),
        price_per_busy_hour=prices.tolist(),
        profit_per_hour=[seen.profit(price) for price in prices.tolist()],
        tenant_cost_per_hour=[seen.split(price).cost_per_hour for price in prices.tolist()],
    )


def _vm_types(session: Session, body: ComputeMixCreate) -> list[VmType]:
    found = []
    for at, vm in enumerate(body.vm_types):
        price = vm.price_per_hour
        if price is None and body.price_list_id is not None:
            price = price_lists.vm_price(session, body.price_list_id, vm.name, f"#/vm_types/{at}/name")
        if price is None:
            raise _price_missing(f"#/vm_types/{at}/price_per_hour", vm.name)
        found.append(VmType(vm.name, price, Service(vm.service_ms / 1e3, vm.variation)))
    return found


def _serverless(session: Session, body: ComputeMixCreate, offer: ServerlessWrite) -> Serverless:
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


def _measured(session: Session, body: ComputeMixCreate, statistic: str) -> list[tuple[str, float, float]]:
    """Return label and one-way delays (µs) of each path; those between VMs are read from the mesh."""
    mesh = mesh_state(session, resolve_mesh(session, body.mesh or "").id)
    found = []
    for at, path in enumerate(body.paths):
        if path.source is None or path.target is None:
            found.append(_known(path))
            continue
        source = member_named(mesh, path.source, f"#/paths/{at}/source")
        target = member_named(mesh, path.target, f"#/paths/{at}/target")
        delays = path_delays(session, mesh, source, target, body.minutes, f"#/paths/{at}")
        outbound_ns, inbound_ns = delays.delays_ns(statistic)
        label = path.label or f"{source.name} to {target.name}"
        found.append((label, outbound_ns / 1e3, inbound_ns / 1e3))
    return found


def _known(path: PathWrite) -> tuple[str, float, float]:
    outbound_us, inbound_us = path.outbound_us or 0.0, path.inbound_us or 0.0
    return path.label or f"{outbound_us:g} µs out, {inbound_us:g} µs back", outbound_us, inbound_us


def _nearest(percentile: float) -> str:
    """Return the stored statistic at or above a percentile."""
    return next((name for at, name in _BY_PERCENTILE.items() if percentile <= at), "p999")


def _path_read(found: Mix, label: str, outbound_us: float, inbound_us: float, body: ComputeMixCreate) -> PathMixRead:
    best = found.best
    return PathMixRead(
        label=label,
        outbound_us=outbound_us,
        inbound_us=inbound_us,
        statistic=None,
        budget_ms=found.budget_s * 1e3,
        serverless_response_ms=None if found.serverless_response_s is None else found.serverless_response_s * 1e3,
        best=None if best is None else best.vm.name,
        reason=None if best is not None else _reason(found),
        options=[_option_read(option) for option in found.options],
        difference_per_hour=None,
        curve=None if best is None else _curve_read(best, body.load_per_s),
        profile=None if best is None or not body.hourly_load_per_s else _profile_read(found, body),
    )


def _reason(found: Mix) -> str:
    if found.budget_s <= 0:
        return "The network alone takes longer than the response target."
    fastest = min(option.vm.service.mean_s for option in found.options) * 1e3
    return (
        f"Neither a VM nor serverless keeps the response within {found.budget_s * 1e3:.3g} ms:"
        f" a job takes {fastest:.3g} ms on the fastest idle VM."
    )


def _option_read(option: Option) -> VmOptionRead:
    return VmOptionRead(
        vm=option.vm.name,
        price_per_hour=option.vm.price_per_hour,
        utilisation_max=option.utilisation_max,
        capacity_per_s=option.prices.capacity_per_s,
        break_even_per_s=option.prices.break_even_per_s,
        split=None if option.split.regime is Regime.INFEASIBLE else _split_read(option.split),
        vms_alone=None if option.vms_alone is None else _split_read(option.vms_alone),
        serverless_alone=None if option.serverless_alone is None else _split_read(option.serverless_alone),
        saving_per_hour=option.saving_per_hour,
    )


def _curve_read(option: Option, load_per_s: float) -> CostCurveRead:
    curve = cost_curve(option, max(2 * load_per_s, 3 * option.prices.capacity_per_s) or 1.0)
    return CostCurveRead(
        vm=option.vm.name,
        load_per_s=curve.load_per_s,
        mix=curve.mix,
        vms_alone=curve.vms_alone,
        serverless_alone=curve.serverless_alone,
    )


def _profile_read(found: Mix, body: ComputeMixCreate) -> ProfileRead | None:
    """Return the cheapest profile over VM types."""
    reads = []
    loads = body.hourly_load_per_s
    for option in found.options:
        if option.split.regime is Regime.INFEASIBLE:
            continue
        hours = load_profile.through_hours(loads, option.prices, body.term_h)
        alone = replace(option.prices, job_price=None)
        vms_alone = load_profile.through_hours(loads, alone, body.term_h) if alone.capacity_per_s > 0 else None
        serverless = option.prices.job_price is not None
        reads.append(
            ProfileRead(
                vm=option.vm.name,
                term_h=body.term_h,
                cost=sum(hour.cost for hour in hours),
                vms_alone_cost=None if vms_alone is None else sum(hour.cost for hour in vms_alone),
                serverless_alone_cost=sum(map(option.prices.serverless_cost, loads)) if serverless else None,
                hours=[HourRead.model_validate(hour) for hour in hours],
            )
        )
    return min(reads, key=lambda read: read.cost, default=None)


def _difference(read: PathMixRead, base: PathMixRead) -> float | None:
    costs = [
        next((option.split.cost_per_hour for option in one.options if option.vm == one.best and option.split), None)
        for one in (read, base)
    ]
    return None if costs[0] is None or costs[1] is None else costs[0] - costs[1]


def _split_read(split: Split) -> SplitRead:
    return SplitRead.model_validate(split)


def _peak_read(peak: Peak) -> PeakRead:
    return PeakRead(
        regime=peak.regime,
        price_per_busy_hour=peak.price,
        profit_per_hour=peak.profit,
        split=_split_read(peak.split),
    )


def _price_missing(pointer: str, name: str) -> ProductError:
    return ProductError(
        "price_missing",
        422,
        f"No price: {name} has none. Give it here, or choose a price list.",
        errors=[{"pointer": pointer, "message": "is required without a price list"}],
    )
