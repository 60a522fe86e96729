"""State of a simulation between steps, written to and read from a file so that a run can resume."""

import json
import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sinemora.recommendations.placement.problem import ANYWHERE, Assignment, Ints

Floats = npt.NDArray[np.float64]
SCORES = ("area", "plain_area", "placed_area", "plain_placed_area")
"""Ways to score: relative to the best reachable performance or plain; waiting tasks count as 0, or not (placed)."""


class SimulationStateError(ValueError):
    """A file that is no state, or the state of another simulation."""


@dataclass(slots=True, eq=False)
class SimulationState:
    """State between two steps. Arrays have one entry per job unless noted."""

    step: int
    left: Ints
    """Tasks that have arrived and not ended, roots included."""
    root: Ints
    """Machines of the roots, shape (jobs, roots); `ANYWHERE` where a job has none or waits."""
    placed: Assignment
    since: Ints
    """First step of each entry of `placed`."""
    total: Floats
    """Scores summed over steps, shape (jobs, `SCORES`) …"""
    lived: Ints
    """… this many, shape (jobs, `SCORES`): without waiting tasks, a step in which all wait does not count."""
    delay_s: Floats
    """Seconds from arrival to placement, of the tasks placed last."""
    ended_s: Floats
    """Response time of jobs that ended; NaN for others."""
    choices: np.random.Generator
    """Random choices of the policy: roots and ties between slots."""
    ends: np.random.Generator
    """Random choice of the machines on which tasks end."""
    solver_s: list[float] = field(default_factory=list)
    latency_s: list[float] = field(default_factory=list)
    round_s: list[float] = field(default_factory=list)
    moved: list[float] = field(default_factory=list)

    @classmethod
    def new(cls, jobs: int, seed: int, roots: int = 1) -> Self:
        """Return the state before the first step of jobs with up to `roots` roots."""
        return cls(
            0, np.zeros(jobs, np.int64), np.full((jobs, roots), ANYWHERE, np.int64), Assignment.nothing(),
            np.zeros(0, np.int64), np.zeros((jobs, len(SCORES))), np.zeros((jobs, len(SCORES)), np.int64),
            np.zeros(jobs), np.full(jobs, np.nan), np.random.default_rng(seed + 1),
            np.random.default_rng(seed + 2),
        )  # fmt: skip

    def second(self, step_s: int) -> int:
        """Return the second at which the current step is scored, the same for every policy."""
        return self.step * step_s + int(np.random.default_rng((self.step, 7)).integers(step_s))

    def put(self, more: Assignment) -> None:
        """Add tasks that start now."""
        self.replace(self.placed.plus(more))

    def replace(self, placed: Assignment) -> None:
        """Replace the placement; tasks that stay on their machine keep their start."""
        placed = placed.merged()
        width = int(max(placed.machine.max(initial=0), self.placed.machine.max(initial=0))) + 1
        before, now = (tasks.job * width + tasks.machine for tasks in (self.placed, placed))
        since = np.full(len(now), self.step, np.int64)
        if len(before):
            at = np.minimum(np.searchsorted(before, now), len(before) - 1)
            same = before[at] == now
            since[same] = self.since[at[same]]
        self.placed, self.since = placed, since

    def shrink(self, job: int, tasks: int) -> None:
        """Remove placed tasks of a job beyond the `tasks` left; the machines they ended on are random."""
        first, last = np.searchsorted(self.placed.job, (job, job + 1))
        count = self.placed.count[first:last]
        surplus = int(count.sum()) - tasks
        if surplus > 0:
            count -= self.ends.multivariate_hypergeometric(count, surplus, method="marginals")
            kept = self.placed.count > 0
            self.since = self.since[kept]
            self.placed = Assignment(self.placed.job[kept], self.placed.machine[kept], self.placed.count[kept])

    def write(self, path: Path, of: dict[str, Any]) -> None:
        """Write the state atomically; `of` identifies the simulation."""
        generators = {name: getattr(self, name).bit_generator.state for name in ("choices", "ends")}
        arrays = {f"placed_{name}": getattr(self.placed, name) for name in ("job", "machine", "count")}
        for column in fields(self):
            if column.name not in ("placed", "choices", "ends"):
                arrays[column.name] = np.asarray(getattr(self, column.name))
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        with part.open("wb") as out:
            np.savez(out, about=np.array(json.dumps({"of": of, "chance": generators})), **arrays)
        os.replace(part, path)

    @classmethod
    def read(cls, path: Path, of: dict[str, Any]) -> Self:
        """Read a state. Raises `SimulationStateError` if it belongs to another simulation."""
        try:
            with np.load(path, allow_pickle=False) as kept:
                about = json.loads(str(kept["about"]))
                values: dict[str, Any] = {name: kept[name] for name in kept.files if name != "about"}
        except (OSError, ValueError, KeyError) as error:
            raise SimulationStateError(f"Invalid state: {path} is not a simulation state: {error}") from None
        if about["of"] != json.loads(json.dumps(of)):
            differing = sorted(key for key in {*of, *about["of"]} if about["of"].get(key) != of.get(key))
            raise SimulationStateError(
                f"State mismatch: {path} belongs to another simulation; it differs in {', '.join(differing)}"
            )
        placed = Assignment(*(values.pop(f"placed_{name}") for name in ("job", "machine", "count")))
        for name in ("solver_s", "latency_s", "round_s", "moved"):
            values[name] = values[name].tolist()
        for name, state in about["chance"].items():
            values[name] = np.random.default_rng()
            values[name].bit_generator.state = state
        return cls(**{**values, "step": int(values["step"]), "placed": placed})
