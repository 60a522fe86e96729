"""Use cases of the compute mix and of the provider's prices."""

from dataclasses import replace

import numpy as np
from sqlalchemy.orm import Session

from sinemora.advisors.compute_mix import offers, schemas
from sinemora.advisors.compute_mix.core import load_profile, market, split
from sinemora.advisors.compute_mix.core.market import Market, Peak
from sinemora.advisors.compute_mix.core.mix import Mix, Option, cost_curve
from sinemora.advisors.compute_mix.core.split import Regime, Split
from sinemora.advisors.measured_path import member_named, path_delays
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.errors import invalid
from sinemora.recommendations.service import resolve_mesh

_CURVE_POINTS = 241
_VMS_MAX = 1e6


def compute_mix(session: Session, body: schemas.ComputeMixCreate) -> schemas.ComputeMixRead:
    """Return the cheapest mix for each path.

    ProductError `price_missing`, `price_unknown`, `price_ambiguous`, `price_list_unknown`, `mesh_unknown`,
    `vm_not_in_mesh`, `path_unmeasured`, `path_same_ends`, `request_invalid`.
    """
    priced = offers.priced(session, body)
    statistic = body.statistic or priced.statistic
    paths = [_known(path) for path in body.paths] or [("no network", 0.0, 0.0)]
    measured = [path.source is not None for path in body.paths] or [False]
    if any(measured):
        paths = _measured(session, body, statistic)
    reads: list[schemas.PathMixRead] = []
    for (label, outbound_us, inbound_us), of_mesh in zip(paths, measured, strict=True):
        found = priced.mix(outbound_us, inbound_us)
        read = _path_read(found, label, outbound_us, inbound_us, body)
        base = (reads or [read])[0]
        reads.append(
            read.model_copy(
                update={"statistic": statistic if of_mesh else None, "difference_per_hour": _difference(read, base)}
            )
        )
    job_price = None if priced.serverless is None else priced.serverless.job_price
    return schemas.ComputeMixRead(currency=priced.currency, job_price=job_price, paths=reads)


def provider_prices(body: schemas.ProviderPriceCreate) -> schemas.ProviderPriceRead:
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
    return schemas.ProviderPriceRead(
        switch_to_mixed=seen.switch_to_mixed,
        switch_to_vms=seen.switch_to_vms,
        peaks=[_peak_read(peak) for peak in market.peaks(seen)],
        equilibrium=_peak_read(market.equilibrium(seen)),
        price_per_busy_hour=prices.tolist(),
        profit_per_hour=[seen.profit(price) for price in prices.tolist()],
        tenant_cost_per_hour=[seen.split(price).cost_per_hour for price in prices.tolist()],
    )


def _measured(session: Session, body: schemas.ComputeMixCreate, statistic: str) -> list[tuple[str, float, float]]:
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


def _known(path: schemas.PathWrite) -> tuple[str, float, float]:
    outbound_us, inbound_us = path.outbound_us or 0.0, path.inbound_us or 0.0
    return path.label or f"{outbound_us:g} µs out, {inbound_us:g} µs back", outbound_us, inbound_us


def _path_read(
    found: Mix, label: str, outbound_us: float, inbound_us: float, body: schemas.ComputeMixCreate
) -> schemas.PathMixRead:
    best = found.best
    return schemas.PathMixRead(
        label=label,
        outbound_us=outbound_us,
        inbound_us=inbound_us,
        statistic=None,
        budget_ms=found.budget_s * 1e3,
        serverless_response_ms=None if found.serverless_response_s is None else found.serverless_response_s * 1e3,
        best=None if best is None else best.vm.name,
        reason=offers.reason(found),
        options=[_option_read(option) for option in found.options],
        difference_per_hour=None,
        curve=None if best is None else _curve_read(best, body.load_per_s),
        profile=None if best is None or not body.hourly_load_per_s else _profile_read(found, body),
    )


def _option_read(option: Option) -> schemas.VmOptionRead:
    return schemas.VmOptionRead(
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


def _curve_read(option: Option, load_per_s: float) -> schemas.CostCurveRead:
    curve = cost_curve(option, max(2 * load_per_s, 3 * option.prices.capacity_per_s) or 1.0)
    return schemas.CostCurveRead.from_row(curve, vm=option.vm.name)


def _profile_read(found: Mix, body: schemas.ComputeMixCreate) -> schemas.ProfileRead | None:
    """Return the cheapest profile over VM types. ProductError `request_invalid` for loads of a wrong size."""
    loads = body.hourly_load_per_s
    feasible = [option for option in found.options if option.split.regime is not Regime.INFEASIBLE]
    for option in feasible:
        if max(loads) > _VMS_MAX * option.prices.capacity_per_s > 0:
            words = f"needs more than a million VMs of {option.vm.name}; check the units"
            raise invalid([{"pointer": "#/hourly_load_per_s", "message": words}])
    # A term only adds costs, so a type whose hours without one cost as much as a known profile cannot be cheaper.
    floors = [(sum(split.cheapest(load, option.prices).cost_per_hour for load in loads), option) for option in feasible]
    best: tuple[float, Option, list[load_profile.Hour]] | None = None
    for floor, option in sorted(floors, key=lambda one: one[0]):
        if best is not None and floor >= best[0]:
            break
        hours = load_profile.through_hours(loads, option.prices, body.term_h)
        cost = sum(hour.cost for hour in hours)
        if best is None or cost < best[0]:
            best = (cost, option, hours)
    if best is None:
        return None
    cost, option, hours = best
    alone = replace(option.prices, job_price=None)
    vms_alone = load_profile.through_hours(loads, alone, body.term_h) if alone.capacity_per_s > 0 else None
    serverless = option.prices.job_price is not None
    return schemas.ProfileRead(
        vm=option.vm.name,
        term_h=body.term_h,
        cost=cost,
        vms_alone_cost=None if vms_alone is None else sum(hour.cost for hour in vms_alone),
        serverless_alone_cost=sum(map(option.prices.serverless_cost, loads)) if serverless else None,
        hours=[schemas.HourRead.model_validate(hour) for hour in hours],
    )


def _difference(read: schemas.PathMixRead, base: schemas.PathMixRead) -> float | None:
    costs = [
        next((option.split.cost_per_hour for option in one.options if option.vm == one.best and option.split), None)
        for one in (read, base)
    ]
    return None if costs[0] is None or costs[1] is None else costs[0] - costs[1]


def _split_read(found: Split) -> schemas.SplitRead:
    return schemas.SplitRead.model_validate(found)


def _peak_read(peak: Peak) -> schemas.PeakRead:
    return schemas.PeakRead(
        regime=peak.regime,
        price_per_busy_hour=peak.price,
        profit_per_hour=peak.profit,
        split=_split_read(peak.split),
    )
