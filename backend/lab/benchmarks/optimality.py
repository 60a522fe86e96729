"""Optimality of recommendations: random tenants through the API of a running product, against brute force.

Small tenants have 4 to 7 VMs and every kind of limit; every placement of theirs is tried. Larger ones show how long a
recommendation takes and how large its gap is.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import numpy as np

from lab.benchmarks.figures import comment, report
from lab.benchmarks.recommending.api import Api
from lab.benchmarks.recommending.hints import false_hints
from lab.benchmarks.recommending.tenants import Tenant, declare, large, small
from lab.benchmarks.recommending.truth import (
    Step,
    all_placements,
    best,
    broken_step,
    kept,
    needless,
    now_of,
    owners,
    pays,
    worth,
)
from lab.benchmarks.storing import product
from sinemora.kit.db import Base, TenantOwned
from tests.recommendations.test_ends import incident_of

SIZES = (100, 300, 1000)
TIMES = 3
CURED, _POINT = 10, 0.01
_EQUAL = 1e-6
_NEVER = {
    "step": "step_limits_broken",
    "price": "price_violations",
    "moves": "needless_moves",
    "regions": "needless_regions",
    "impossible": "false_impossible",
    "hints": "hints_false",
}
"""Faults that no answer may have, each with its figure."""


@contextmanager
def unlimited() -> Iterator[Api]:
    """Run a product without largest numbers of rows: all worlds belong to one tenant."""
    with product.running() as running:
        for mapper in Base.registry.mappers:
            if issubclass(mapper.class_, TenantOwned):
                mapper.class_.rows_max = None
        yield Api(running)


def main(seed: int, tenants: int) -> None:
    """Ask for moves of small tenants, and compare the placements with the best of all."""
    with unlimited() as api:
        compare(api, seed, tenants)


def sizes(seed: int) -> None:
    """Print the figures of large tenants."""
    with unlimited() as api:
        for vms in SIZES:
            time_one(api, seed, vms)


def compare(api: Api, seed: int, tenants: int) -> None:
    counts: Counter[str] = Counter()
    shortfalls = []
    for number in range(tenants):
        tenant = small(np.random.default_rng((seed, number)))
        name = f"small-{seed}-{number}"
        declare(api, name, tenant)
        answer, _ = api.recommendation(question(name, tenant))
        steps = steps_of(tenant, answer)
        reached = now_of(tenant)[0]
        for task, target, _ in steps:
            reached[task] = target
        everything = all_placements(tenant)
        best_of_all = best(tenant, everything)
        fewer_do, nearer_do = needless(tenant, reached, everything)
        shortfall = float((worth(tenant, best_of_all[None]) - worth(tenant, reached[None]))[0])
        # What waits in both counts for neither; a start that is missed counts as the loss of all performance.
        shortfalls.append(min(shortfall, 1.0))
        optimal = "problem" not in answer and answer["result"]["optimality"]["state"] == "optimal"
        said = [answer["problem"]["detail"]] if "problem" in answer else answer["result"]["rejected"]
        unplaced = [words for words in said if "unplaced" in words]
        # Moves that the held-out windows reject are not made, however good the search was.
        rejected = len(said) > len(unplaced)
        parked = [int(owners(tenant)[task]) for task, _, via in steps if via is not None]
        more_wait = (reached < 0).sum() > (best_of_all < 0).sum()
        found = {
            "broken": not kept(tenant, reached[None])[0],
            "step": broken_step(tenant, steps) is not None,
            "price": not pays(tenant, reached[None], parked)[0],
            "moves": fewer_do,
            "regions": nearer_do,
            "impossible": more_wait and any("Infeasible" in words for words in unplaced),
            "hints": any(false_hints(tenant, words) for words in unplaced),
            "called": optimal and not rejected,
            "rejected": rejected,
            "suboptimal": optimal and not rejected and shortfall > _EQUAL,
            "mismatch": not kept(tenant, reached[None])[0] or (shortfall > _EQUAL and not rejected),
        }
        counts.update(kind for kind, true in found.items() if true)
        if shortfall > _EQUAL or any(found[kind] for kind in _NEVER):
            comment(f"tenant {number}: worse by {shortfall:.6f}, {[kind for kind in found if found[kind]]}: {said}")
    report("recommendations_optimum_mismatches", counts["mismatch"], tenants=tenants, rejected=counts["rejected"])
    suboptimal = 100 * counts["suboptimal"] / max(counts["called"], 1)
    report("recommendations_suboptimal_percent", suboptimal, tenants=tenants, called=counts["called"], seed=seed)
    report("recommendations_shortfall_mean", float(np.mean(shortfalls)), worst=max(shortfalls))
    report("recommendations_limits_broken", counts["broken"])
    for kind, figure in _NEVER.items():
        report(f"recommendations_{figure}", counts[kind], tenants=tenants)


def cures(seed: int, tenants: int) -> None:
    """Print how often the overview is right about moves that cure its headline, and about their number.

    Moves that it offers are applied, and those that it does not: the application must then be at its objective, at the
    performance that was shown, or below it.
    """
    right: list[bool] = []
    offered = 0
    with unlimited() as api:
        for number in range(tenants):
            rng = np.random.default_rng((seed, number, 46))
            tenant, name = small(rng), f"cure-{seed}-{number}"
            declare(api, name, tenant)
            (mesh,) = (one for one in api.read("/v1/overview")["meshes"] if one["name"] == name)
            rows = [one for one in api.read("/v1/applications?limit=500")["items"] if one["mesh"]["name"] == name]
            reached = {row["id"]: _performance(api, row["id"]) for row in rows}
            worst = min(rows, key=lambda row: reached[row["id"]])
            now = reached[worst["id"]]
            objective = round(now + float(rng.uniform(0.2, 0.9)) * (0.99 - now), 3)
            place = SimpleNamespace(owner=SimpleNamespace(tenant_id=api.product.tenant_id), id=UUID(mesh["id"]))
            losing = {"id": worst["id"], "name": worst["name"], "performance": now, "objective": objective}
            incident_id = incident_of(place, applications=[losing | {"cost": 1 - now}])  # type: ignore[arg-type]
            answer, _ = api.recommendation(question(name, tenant) | {"incident_id": str(incident_id)})
            (mesh,) = (one for one in api.read("/v1/overview")["meshes"] if one["name"] == name)
            proposed = mesh["proposed"]
            if answer.get("steps"):
                api.read(f"/v1/recommendations/{answer['id']}/apply", {}, if_match="*")
            after = _performance(api, worst["id"])
            if proposed is not None:
                offered += 1
                right.append(after >= objective and abs(after - proposed["cures"]["after"]) < _POINT)
            else:
                right.append(after < objective)
            comment(f"{name}: {now:.3f}, objective {objective}, offered {proposed and proposed['cures']}, {after:.3f}")
    report("recommendations_cures_headline_percent", 100 * float(np.mean(right)), tenants=tenants, offered=offered)


def _performance(api: Api, application_id: str) -> float:
    return float(api.read(f"/v1/applications/{application_id}/performance")["performance"] or 0.0)


def time_one(api: Api, seed: int, vms: int) -> None:
    """Time recommendations of a large tenant, and report the gap."""
    tenant = large(np.random.default_rng((seed, vms)), vms)
    name = f"large-{seed}-{vms}"
    comment(f"declaring {vms} VMs with {len(tenant.applications)} applications")
    declare(api, name, tenant)
    answers = [api.recommendation(question(name, tenant)) for _ in range(TIMES)]
    optimality = answers[-1][0]["result"]["optimality"]
    moves = len(answers[-1][0]["steps"])
    report(f"recommendations_{vms}_vms_s", float(np.median([seconds for _, seconds in answers])), moves=moves)
    if optimality["gap"] is not None:
        gap = 100 * optimality["gap"]
        report(f"recommendations_{vms}_vms_gap_percentage_points", gap, state=optimality["state"])


def question(name: str, tenant: Tenant) -> dict[str, Any]:
    """Return the request for moves of a tenant."""
    return {"mesh": name, "objective": tenant.objective, "moves_max": tenant.moves_max, "minutes": 10}


def steps_of(tenant: Tenant, answer: dict[str, Any]) -> list[Step]:
    """Return the steps of an answer: task, target, and where it is parked before."""
    row: dict[tuple[str, str], int] = {}
    for application in tenant.applications:
        for task in range(len(application.at)):
            row[application.name, f"task-{task}"] = len(row)

    def vm(place: dict[str, Any]) -> int:
        return int(place["name"].rsplit("-", 1)[1])

    steps = []
    for step in answer.get("steps", []):
        application = step["application"]["name"]
        task = row[application[application.index("application-") :], step["task"]["name"]]
        steps.append((task, vm(step["target"]), step["via"] and vm(step["via"])))
    return steps
