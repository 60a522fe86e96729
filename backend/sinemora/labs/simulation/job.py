"""Job that simulates policies, and its submission."""

from collections.abc import Mapping
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

from sqlalchemy.orm import Session

from sinemora.access.tenants.access import Actor
from sinemora.jobs import service as jobs
from sinemora.jobs.context import JobContext
from sinemora.jobs.models import Job, Queue
from sinemora.jobs.registry import JobKind, register
from sinemora.labs.simulation import mix, service
from sinemora.labs.simulation.core import report
from sinemora.labs.simulation.core.inputs import Inputs, drawn_jobs, drawn_round_trips
from sinemora.labs.simulation.core.simulate import World, simulate
from sinemora.labs.simulation.core.state import SimulationState
from sinemora.labs.simulation.core.workload import Points
from sinemora.labs.simulation.provenance import code_digest
from sinemora.labs.simulation.schemas import SimulationCreate, SimulationRun
from sinemora.recommendations.placement.policies.nomora import Parameters

_COPIED = {
    "machines", "slots", "rack_size", "pod_racks", "step_s", "round_s", "window_s", "history_s", "noise", "move_cost",
    "moves_max", "preemption", "roots", "start_at_random", "seed",
}  # fmt: skip


def world_of(run: SimulationRun, own_curves: Mapping[str, Points] = MappingProxyType({})) -> World:
    """Return the world of a request; shares of the mix are scaled to the sum of 1."""
    total = sum(run.mix.values())
    return World(
        **run.model_dump(include=_COPIED),
        seconds=round(run.hours * 3600),
        mix={curve: share / total for curve, share in run.mix.items()},
        own_curves=dict(own_curves),
        nomora=Parameters(**run.nomora.model_dump()),
    )


def _work(running: JobContext) -> dict[str, Any]:
    if running.checkpoint is not None:  # stored by an attempt whose worker died before it could say so
        return running.checkpoint
    run = SimulationRun.model_validate(running.params["run"])
    world = world_of(run, running.params["own_curves"])
    running.progress(0.0, "drawing jobs and latency")
    inputs = Inputs(drawn_jobs(world), drawn_round_trips(world))
    lines = []
    for number, policy in enumerate(run.policies):

        def after_step(state: SimulationState, done: int = number, name: str = policy) -> None:
            steps = done * world.steps + state.step
            running.progress(steps / (len(run.policies) * world.steps), f"{name}: step {state.step} of {world.steps}")

        lines.append(report.summary(simulate(world, policy, inputs.jobs, inputs.round_trips, after_step=after_step)))
    described = report.describe(world, version("sinemora"), code_digest(), inputs.digest())
    body = SimulationCreate.model_validate({"name": run.name, "world": described, "policies": lines})
    with running.session() as session:
        created = service.create_simulation(session, None, body)
        result = {"simulation_id": str(created.id)}
        running.keep(session, result)
        return result


def _machine_hours(params: dict[str, Any]) -> float:
    run = SimulationRun.model_validate(params["run"])
    return run.machines * run.hours * len(run.policies)


SIMULATE = register(
    JobKind(
        "simulation.simulate",
        Queue.solve,
        _work,
        size=_machine_hours,
        second_per_size=0.01,
        href="/v1/simulations/{simulation_id}",
        libraries=("scipy.signal",),
    )
)


def submit(session: Session, actor: Actor, run: SimulationRun) -> Job:
    """Submit the simulation of a cluster as a job. ProductError `jobs_too_many`, `curve_unknown` (404)."""
    shares, own = mix.resolve(session, run.mix)
    params = {"run": run.model_copy(update={"mix": shares}).model_dump(mode="json"), "own_curves": own}
    return jobs.submit(session, actor, SIMULATE, f"Simulation {run.name}", params)
