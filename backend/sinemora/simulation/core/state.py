"""Where a simulation stands: all it needs to go on, and its way to a file and back."""

import json
import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sinemora.placement.problem import ANYWHERE, Assignment, Ints

Floats = npt.NDArray[np.float64]


class StateError(ValueError):
    """A file is of another simulation, or none."""


@dataclass(slots=True, eq=False)
class State:
    """Between two steps. Arrays have an entry a job, unless said otherwise."""

    step: int
    left: Ints
    """Tasks that have come and not ended, root included."""
    root: Ints
    placed: Assignment
    since: Ints
    """Step since when each entry of `placed` is there."""
    total: Floats
    """Performance, summed over steps …"""
    lived: Ints
    """… this many."""
    delay_s: Floats
    """From coming to being placed, of what was placed last."""
    ended_s: Floats
    """Response time of jobs that ended; NaN of the others."""
    choices: np.random.Generator
    """Chance of the policy: random roots and equal slots."""
    ends: np.random.Generator
    """Chance of which machine a task that ends ran on, and which second of a step is judged."""
    solver_s: list[float] = field(default_factory=list)
    latency_s: list[float] = field(default_factory=list)
    round_s: list[float] = field(default_factory=list)
    moved: list[float] = field(default_factory=list)

    @classmethod
    def new(cls, jobs: int, seed: int) -> Self:
        """Before the first step."""
        none, zeros = np.zeros(jobs, np.int64), np.zeros(jobs)
        return cls(
            0, none, np.full(jobs, ANYWHERE, np.int64), Assignment.nothing(), np.zeros(0, np.int64), zeros, none.copy(),
            zeros.copy(), np.full(jobs, np.nan), np.random.default_rng(seed + 1), np.random.default_rng(seed + 2),
        )  # fmt: skip

    def second(self, step_s: int) -> int:
        """A second of the step that is at hand, the same for every policy."""
        return self.step * step_s + int(np.random.default_rng((self.step, 7)).integers(step_s))

    def put(self, more: Assignment) -> None:
        """Add tasks that begin now."""
        self.replace(self.placed.plus(more))

    def replace(self, placed: Assignment) -> None:
        """Another placement; what was on a machine before has been there since then."""
        placed = placed.merged()
        width = int(max(placed.machine.max(initial=0), self.placed.machine.max(initial=0))) + 1
        before, now = (one.job * width + one.machine for one in (self.placed, placed))
        since = np.full(len(now), self.step, np.int64)
        if len(before):
            at = np.minimum(np.searchsorted(before, now), len(before) - 1)
            same = before[at] == now
            since[same] = self.since[at[same]]
        self.placed, self.since = placed, since

    def shrink(self, job: int) -> None:
        """Take away tasks of a job that has more places than tasks left; on which machines they ended is chance."""
        first, last = np.searchsorted(self.placed.job, (job, job + 1))
        count = self.placed.count[first:last]
        surplus = int(count.sum()) - max(0, int(self.left[job]) - 1)
        if surplus > 0:
            count -= self.ends.multivariate_hypergeometric(count, surplus, method="marginals")
            kept = self.placed.count > 0
            self.since = self.since[kept]
            self.placed = Assignment(self.placed.job[kept], self.placed.machine[kept], self.placed.count[kept])

    def write(self, path: Path, of: dict[str, Any]) -> None:
        """Keep it, as a whole or not at all; `of` says what it is the state of."""
        chance = {name: getattr(self, name).bit_generator.state for name in ("choices", "ends")}
        arrays = {f"placed_{name}": getattr(self.placed, name) for name in ("job", "machine", "count")}
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name not in ("placed", "choices", "ends"):
                arrays[one.name] = np.asarray(value)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        with part.open("wb") as out:
            np.savez(out, about=np.array(json.dumps({"of": of, "chance": chance})), **arrays)
        os.replace(part, path)

    @classmethod
    def read(cls, path: Path, of: dict[str, Any]) -> Self:
        """As it was written. Raises `StateError` when it is the state of something else."""
        try:
            with np.load(path, allow_pickle=False) as kept:
                about = json.loads(str(kept["about"]))
                values: dict[str, Any] = {name: kept[name] for name in kept.files if name != "about"}
        except (OSError, ValueError, KeyError) as error:
            raise StateError(f"{path} is no state of a simulation: {error}") from None
        if about["of"] != json.loads(json.dumps(of)):
            differing = sorted(key for key in {*of, *about["of"]} if about["of"].get(key) != of.get(key))
            raise StateError(f"{path} is of another simulation: it differs in {', '.join(differing)}")
        placed = Assignment(*(values.pop(f"placed_{name}") for name in ("job", "machine", "count")))
        for name in ("solver_s", "latency_s", "round_s", "moved"):
            values[name] = values[name].tolist()
        for name, state in about["chance"].items():
            values[name] = np.random.default_rng()
            values[name].bit_generator.state = state
        return cls(**{**values, "step": int(values["step"]), "placed": placed})
