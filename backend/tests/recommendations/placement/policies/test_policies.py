"""Gangs, risks, objectives and limits against all there is to choose from."""

import dataclasses
import itertools

import numpy as np
import pytest

from sinemora.recommendations.placement import costs, infeasibility
from sinemora.recommendations.placement.costs import Objective
from sinemora.recommendations.placement.plan import Plan, moved_tasks
from sinemora.recommendations.placement.policies import by_name, exact, gang, limits, objectives
from sinemora.recommendations.placement.policies.by_name import Policy
from sinemora.recommendations.placement.policies.limits import InfeasibleError
from sinemora.recommendations.placement.problem import ANYWHERE, Problem, ProblemError, Resources, Risk, Spread
from sinemora.recommendations.placement.risk import pair_costs
from tests.recommendations.placement.problems import random_problem, running, true_costs


@pytest.mark.parametrize("seed", range(25))
def test_a_gang_of_one_job_is_the_best_of_all_roots(seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed), jobs=1, machines=7)
    homeless = problem.with_roots(np.array([ANYWHERE]))
    tried = []
    for root in np.flatnonzero(problem.machines.slots > 0):
        tried.append(exact.solve(problem.with_roots(np.array([root]))).cost)
    assert gang.solve(homeless).cost == min(tried)


@pytest.mark.parametrize("seed", range(15))
def test_gangs_of_two_are_near_the_best_of_all_pairs_of_roots_and_never_above_the_start(seed: int) -> None:
    problem = random_problem(np.random.default_rng(100 + seed), jobs=2, machines=5)
    slots = problem.machines.slots
    best = 1 << 60
    for roots in itertools.product(range(5), repeat=2):
        if (np.bincount(roots, minlength=5) <= slots).all():
            best = min(best, exact.solve(problem.with_roots(np.array(roots))).cost)
    plan = gang.solve(problem.with_roots(np.array([ANYWHERE, ANYWHERE]))).cost
    assert best <= plan
    assert gang.solve(problem).cost <= exact.solve(problem).cost


def test_a_root_without_a_slot_is_reported() -> None:
    problem = random_problem(np.random.default_rng(1), jobs=1, machines=3)
    full = dataclasses.replace(problem, machines=dataclasses.replace(problem.machines, slots=np.zeros(3, np.int64)))
    with pytest.raises(ProblemError) as refused:
        gang.solve(full.with_roots(np.array([ANYWHERE])))
    assert refused.value.code == "no_slot_for_root"


def test_risks_of_a_pair_by_hand() -> None:
    table = np.array([100, 200, 1000], np.int32)
    shares = np.array([[0.5, 0.5, 0.0], [0.96, 0.0, 0.04], [1.0, 0.0, 0.0]])
    assert pair_costs(shares, table, Risk.mean).tolist() == [150, 136, 100]
    assert pair_costs(shares, table, Risk.p99).tolist() == [200, 1000, 100]
    # The worst twentieth of the second pair: four fifths at 1000, one at 100.
    assert pair_costs(shares, table, Risk.cvar).tolist() == [200, 820, 100]


def test_a_certain_latency_carries_no_risk() -> None:
    problem = random_problem(np.random.default_rng(4), jobs=3, machines=6)
    steps = problem.curves.values.shape[0]

    class Certain:
        def shares(self, source: int) -> np.ndarray:
            ns = problem.latency.rows(np.array([source]))[0]
            return np.eye(steps)[np.minimum((ns + 5_000) // 10_000, steps - 1)]

    for risk in Risk:
        risky = dataclasses.replace(problem, risk=(Certain(), risk))
        assert by_name.solve(risky, Policy.robust).cost == exact.solve(problem).cost


def loads(problem: Problem, job: int, domain: np.ndarray, plan: Plan) -> np.ndarray:
    mine = plan.assignment.job == job
    return np.bincount(domain[plan.assignment.machine[mine]], plan.assignment.count[mine])


@pytest.mark.parametrize("seed", range(20))
def test_spread_limits_hold_at_least_cost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, jobs=2, machines=4, most_tasks=4)
    spread = (Spread(0, "rack", 2), Spread(0, "machine", 1), Spread(1, "pod", 3))
    limited = dataclasses.replace(problem, spread=spread)
    plan = by_name.solve(limited)
    assert plan.certificate is not None
    assert plan.certificate.gap == 0
    matrix = true_costs(problem)
    dearest = int(limits.waiting_costs(limited, matrix.astype(np.int32)).max())
    best = 1 << 60
    size = problem.jobs.size
    free = problem.free_slots()

    def fits(job: int, placed: np.ndarray) -> bool:
        of = {"rack": problem.machines.rack, "pod": problem.machines.pod, "machine": np.arange(4)}
        return all(np.bincount(of[s.level], placed).max() <= s.most for s in spread if s.job == job)

    ways = [
        [np.array(p) for p in itertools.product(range(int(n) + 1), repeat=4) if sum(p) <= n and fits(job, np.array(p))]
        for job, n in enumerate(size)
    ]
    for first, second in itertools.product(*ways):
        if (first + second <= free).all():
            waiting = int(size.sum() - first.sum() - second.sum())
            best = min(best, int(first @ matrix[0] + second @ matrix[1]) + waiting * dearest)
    assert plan.cost == best


def test_infeasible_limits_say_which_to_relax() -> None:
    rng = np.random.default_rng(2)
    problem = random_problem(rng, jobs=1, machines=4, most_tasks=4)
    jobs = dataclasses.replace(problem.jobs, size=np.array([4]), names=("web",))
    machines = dataclasses.replace(problem.machines, slots=np.full(4, 5), rack=np.array([0, 0, 1, 1]))
    problem = dataclasses.replace(problem, jobs=jobs, machines=machines, spread=(Spread(0, "rack", 1),))
    with pytest.raises(InfeasibleError, match="2 tasks unplaced \\(web\\)") as refused:
        infeasibility.require_all_placed(problem, by_name.solve(problem))
    assert refused.value.relax == ("let web have more than 1 in one rack",)
    few = dataclasses.replace(machines, slots=np.array([1, 1, 1, 1]))
    crowded = dataclasses.replace(problem, machines=few, spread=())
    with pytest.raises(InfeasibleError, match="1 slot missing"):
        infeasibility.require_all_placed(crowded, by_name.solve(crowded))


def test_packing_says_what_is_scarce() -> None:
    problem = random_problem(np.random.default_rng(2), jobs=2, machines=2, most_tasks=2)
    jobs = dataclasses.replace(problem.jobs, size=np.array([1, 2]), names=("web", "db"))
    machines = dataclasses.replace(problem.machines, slots=np.full(2, 6))
    request = dataclasses.replace(problem, jobs=jobs, machines=machines)

    def relaxed(
        cpu: list[int], memory: list[int], apart: tuple[tuple[int, int], ...] = (), **more: object
    ) -> tuple[str, ...]:
        room = np.full(2, 4)
        resources = Resources(np.array(cpu), np.array(memory), room, room, apart)
        question = dataclasses.replace(request, resources=resources, **more)  # type: ignore[arg-type]
        with pytest.raises(InfeasibleError) as refused:
            infeasibility.require_all_placed(question, by_name.solve(question, Policy.pack))
        return refused.value.relax

    assert relaxed([3, 3], [1, 1]) == ("give machines more CPU",)
    assert relaxed([1, 1], [3, 3]) == ("give machines more memory",)
    # Both are kept to one machine that they must not share; with tasks of half a machine sharing would not do either.
    first = np.array([True, False])
    kept = {"allowed": {0: first, 1: first}}
    elsewhere = {"allow web more machines", "allow db more machines"}
    assert set(relaxed([1, 1], [1, 1], ((0, 1),), **kept)) == {"let web and db share machines", *elsewhere}
    assert set(relaxed([2, 2], [1, 1], ((0, 1),), **kept)) == elsewhere


@pytest.mark.parametrize("seed", range(15))
def test_objectives_differ_as_they_should(seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed), jobs=5, machines=8)
    jobs = dataclasses.replace(problem.jobs, size=np.maximum(problem.jobs.size, 1))
    slots = problem.machines.slots + 5
    problem = dataclasses.replace(problem, jobs=jobs, machines=dataclasses.replace(problem.machines, slots=slots))
    loss = {o: by_name.solve(problem, objective=o) for o in Objective}
    by_task = costs.table(problem.curves, Objective.loss)[problem.jobs.curve]
    matrix = exact.cost_matrix(problem, by_task, 1001).astype(np.int64)

    def lost(plan: Plan) -> int:
        return int((matrix[plan.assignment.job, plan.assignment.machine] * plan.assignment.count).sum())

    def per_job(plan: Plan) -> np.ndarray:
        return objectives.performance_of_jobs(problem, plan)

    assert all(lost(loss[Objective.loss]) <= lost(plan) for plan in loss.values())
    assert per_job(loss[Objective.worst_first]).min() >= per_job(loss[Objective.fair]).min()
    # Rounding costs a job at most half a point for each of its tasks.
    slack = float((0.05 * problem.jobs.size).sum()) + len(problem.jobs)
    assert per_job(loss[Objective.fair]).sum() >= per_job(loss[Objective.slowdown]).sum() - slack


def test_policies_refuse_what_they_do_not_know() -> None:
    problem = random_problem(np.random.default_rng(2), jobs=2, machines=4)
    spread = dataclasses.replace(problem, spread=(Spread(0, "rack", 2),))
    for policy in (Policy.nomora, Policy.nomora_aggregated, Policy.gang):
        with pytest.raises(ProblemError):
            by_name.solve(spread, policy)
    for policy in (Policy.robust, Policy.pack):
        with pytest.raises(ProblemError) as refused:
            by_name.solve(problem, policy)
        assert refused.value.code in ("risk_missing", "resources_missing")


@pytest.mark.parametrize("seed", range(20))
def test_a_budget_and_a_price_of_moves_hold_beside_spread_limits_and_under_pack(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, jobs=3, machines=6)
    roomy = dataclasses.replace(problem.machines, slots=problem.machines.slots + 3)
    problem = dataclasses.replace(problem, machines=roomy)
    current = running(problem, rng)
    most = int(current.count.sum()) // 2
    unlimited = Resources(np.zeros(3, np.int64), np.zeros(3, np.int64), np.ones(6, np.int64), np.ones(6, np.int64))
    problem = dataclasses.replace(problem, current=current, resources=unlimited)
    wide = (Spread(0, "machine", 100),)
    for price in (0, 30, 5_000):
        priced = dataclasses.replace(problem, move_price=price)
        plans = [
            by_name.solve(priced),
            by_name.solve(dataclasses.replace(priced, spread=wide)),
            by_name.solve(priced, Policy.pack),
        ]
        # Limits that never bind change nothing: three solvers, one optimum of cost less what staying is worth.
        loose = int(current.count.sum())
        worth = {plan.cost - price * (loose - moved_tasks(current, plan.assignment)) for plan in plans if price}
        assert len(worth) <= 1
        assert all(plan.certificate is not None and plan.certificate.gap == 0 for plan in plans)
        if price == 5_000:
            assert all(moved_tasks(current, plan.assignment) == 0 for plan in plans)
    for policy, spread in ((Policy.exact, wide), (Policy.pack, ())):
        plan = by_name.solve(dataclasses.replace(problem, spread=spread, most_moves=most), policy)
        assert moved_tasks(current, plan.assignment) <= most


def complete(problem: Problem) -> Problem:
    """Return the problem with the data that `robust` and `pack` need."""
    machines, steps = len(problem.machines), problem.curves.values.shape[0]

    class Even:
        def shares(self, source: int) -> np.ndarray:
            return np.full((machines, steps), 1 / steps)

    room = np.full(machines, 1_000)
    need = np.full(len(problem.jobs), 100)
    return dataclasses.replace(problem, risk=(Even(), Risk.cvar), resources=Resources(need, need, room, room))


@pytest.mark.parametrize("policy", list(Policy))
def test_every_policy_gives_a_plan_that_fits(policy: Policy) -> None:
    problem = random_problem(np.random.default_rng(8), jobs=5, machines=8)
    if policy in (Policy.robust, Policy.pack):
        problem = complete(problem)
    plan = by_name.solve(problem, policy)
    roots = np.bincount(plan.root, minlength=8)
    assert (plan.assignment.on_machines(8) + roots <= problem.machines.slots).all()
    assert (plan.assignment.of_jobs(5) + plan.waiting == problem.jobs.size).all()
