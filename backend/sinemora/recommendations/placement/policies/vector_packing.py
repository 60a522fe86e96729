"""Packing of CPU, memory and anti-affinity with CP-SAT, at tenant size, since it is no flow problem.

Tasks of a job are identical, so a variable is the number of tasks of a job on a machine.
"""

import time

import numpy as np

from sinemora.recommendations.placement import costs as points
from sinemora.recommendations.placement import progress
from sinemora.recommendations.placement.costs import Objective
from sinemora.recommendations.placement.matrix import cost_matrix, waiting_costs
from sinemora.recommendations.placement.plan import Certificate, Plan, Statistics
from sinemora.recommendations.placement.policies.limits import InfeasibleError
from sinemora.recommendations.placement.problem import Assignment, Problem, ProblemError


def solve(problem: Problem, objective: Objective = Objective.slowdown, seconds: float = 10.0) -> Plan:
    """Return the cheapest placement within slots, CPU, memory and anti-affinity; `certificate.proven` if optimal.

    A move price makes staying that much cheaper, in the certificate too; a move budget holds.
    """
    # Imported here, since it imports pandas: together they would be a fifth of every start.
    from ortools.sat.python import cp_model

    class _Reporter(cp_model.CpSolverSolutionCallback):
        """Report each better placement with its bound; CP-SAT calls it from its threads."""

        def __init__(self, listener: progress.Listener, phase: str) -> None:
            super().__init__()
            self._listener, self._phase = listener, phase

        def on_solution_callback(self) -> None:
            share = 0.2 + 0.6 * min(self.wall_time / seconds, 1.0)
            self._listener(progress.Progress(share, self._phase, self.objective_value, self.best_objective_bound))

    started = time.perf_counter()
    problem.check()
    resources = problem.resources
    if resources is None:
        raise ProblemError("resources_missing", "resources", "CPU and memory of tasks and machines")
    if problem.spread:
        raise ProblemError(
            "not_together",
            "spread",
            "pack supports CPU, memory and anti-affinity; for spread limits use exact or graph",
        )
    tables = points.of_jobs(problem, objective)
    waiting_cost = waiting_costs(problem, tables)
    matrix = cost_matrix(problem, tables, int(waiting_cost.max(initial=0))).astype(np.int64)
    jobs, machines = matrix.shape
    free, held = problem.free_slots(), problem.held()
    model = cp_model.CpModel()
    count: list[list[cp_model.IntVar | int]] = []
    for job in range(jobs):
        needs = ((resources.cpu, resources.machine_cpu), (resources.memory, resources.machine_memory))
        row: list[cp_model.IntVar | int] = []
        for machine in range(machines):
            fitting = [int(room[machine]) // int(need[job]) for need, room in needs if need[job] > 0]
            most = min(int(problem.jobs.size[job]), int(free[machine]), *fitting)
            open_ = matrix[job, machine] <= waiting_cost[job] and most > 0
            row.append(model.new_int_var(0, most, "") if open_ else 0)
        count.append(row)
    wait = [model.new_int_var(0, int(size), "") for size in problem.jobs.size]
    for job in range(jobs):
        model.add(sum(count[job]) + wait[job] == int(problem.jobs.size[job]))
    for job, machine, least in zip(held.job.tolist(), held.machine.tolist(), held.count.tolist(), strict=True):
        model.add(count[job][machine] >= least)
    for machine in range(machines):
        tasks = [count[job][machine] for job in range(jobs)]
        model.add(sum(tasks) <= int(free[machine]))
        for need_of, room in ((resources.cpu, resources.machine_cpu), (resources.memory, resources.machine_memory)):
            model.add(sum(t * int(n) for t, n in zip(tasks, need_of, strict=True)) <= int(room[machine]))
        used = {}
        for job in {job for pair in resources.apart for job in pair}:
            if not isinstance(tasks[job], int):
                used[job] = model.new_bool_var("")
                model.add(tasks[job] == 0).only_enforce_if(used[job].Not())
        for a, b in resources.apart:
            if a in used and b in used:
                model.add_bool_or([used[a].Not(), used[b].Not()])
    loose = problem.loose()
    stays = []
    for job, machine, most in zip(loose.job.tolist(), loose.machine.tolist(), loose.count.tolist(), strict=True):
        stay = model.new_int_var(0, most, "")
        model.add(stay <= count[job][machine])
        stays.append(stay)
    if problem.most_moves is not None:
        model.add(sum(stays) >= int(loose.count.sum()) - problem.most_moves)
    paid = [
        t * int(matrix[job, machine])
        for job in range(jobs)
        for machine in range(machines)
        if not isinstance(t := count[job][machine], int)
    ]
    waited = [w * int(c) for w, c in zip(wait, waiting_cost, strict=True)]
    model.minimize(sum(paid) + sum(waited) - problem.move_price * sum(stays))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 2
    status = solver.solve(model, _Reporter(progress.listener(), f"packing {int(problem.jobs.size.sum())} tasks"))
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        reason = (
            "pinned tasks break CPU, memory or anti-affinity" if len(held.job) else "no solution within the time limit"
        )
        raise InfeasibleError(f"Infeasible: {reason}", ("unpin tasks",) if len(held.job) else ("raise the time limit",))
    entries = [
        (job, machine, int(solver.value(t)))
        for job in range(jobs)
        for machine in range(machines)
        if not isinstance(t := count[job][machine], int) and solver.value(t) > 0
    ]
    primal = round(solver.objective_value)
    cost = primal + problem.move_price * sum(solver.value(stay) for stay in stays)
    bound = primal if status == cp_model.OPTIMAL else int(np.ceil(solver.best_objective_bound - 1e-6))
    return Plan(
        "pack",
        problem.jobs.root,
        Assignment.of(entries).merged(),
        np.array([solver.value(w) for w in wait], np.int64),
        cost,
        Certificate(primal, bound),
        Statistics(time.perf_counter() - started, 1, jobs * machines),
    )
