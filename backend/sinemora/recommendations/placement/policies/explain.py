"""Arcs of the published network of a small problem."""

from typing import NamedTuple

from sinemora.recommendations.placement.policies.nomora import Built, Parameters, build
from sinemora.recommendations.placement.problem import Problem
from sinemora.recommendations.placement.solvers import flow


class ExplainedArc(NamedTuple):
    """Arc of the solved network."""

    tail: str
    head: str
    capacity: int
    cost: int
    flow: int


def explain(problem: Problem, parameters: Parameters | None = None) -> list[ExplainedArc]:
    """Return every arc of the network of a problem with fixed roots, with its flow."""
    problem.check()
    built, _ = build(problem, parameters or Parameters())
    flows = flow.solve(built.network)
    network = built.network
    names = _names(problem, built)
    rows = zip(network.tail, network.head, network.capacity, network.cost, flows, strict=True)
    return [ExplainedArc(names[tail], names[head], int(c), int(p), int(f)) for tail, head, c, p, f in rows]


def _names(problem: Problem, built: Built) -> list[str]:
    seen: dict[int, int] = {}
    names = []
    for group, job in enumerate(built.group_job):
        number = seen[int(job)] = seen.get(int(job), 0) + 1
        tasks = int(built.network.supply[group])
        names.append(f"T {problem.jobs.name(int(job))}/{number}" + (f" ({tasks} tasks)" if tasks > 1 else ""))
    names += [f"U {problem.jobs.name(job)}" for job in range(built.jobs)]
    names += ["X", *(f"R {rack}" for rack in range(built.racks))]
    return [*names, *(f"M {problem.machines.name(machine)}" for machine in range(built.machines)), "S"]
