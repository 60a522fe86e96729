"""Make a profile: start the server, inject latency, run the benchmark."""

import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from sinemora.curves.core.fit import Fit, fit
from sinemora.curves.core.observations import normalise
from sinemora.profiler import child_process, sweep
from sinemora.profiler.interference import LoadMonitor, RetryBudget
from sinemora.profiler.journal import Journal
from sinemora.profiler.network import Network, spare_user
from sinemora.profiler.recipes import ProfileError, Recipe, value_of
from sinemora.profiler.sweep import Mean, Plan, Run, Step

_READY_WITHIN_S = 15.0
_FIRST_REQUESTS = 5_000
# A run may fail once, for example because the machine paused; a second failure is an error.
_TRIES = 2
_EXCESS_SHARE = 0.1

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of each run."""

    seconds: float
    warm_up_s: float
    patience_s: float = 120.0
    """Time for repeating runs that other work on the machine disturbed."""


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """A finished profile."""

    recipe: Recipe
    plan: Plan
    runs: tuple[Run, ...]
    load: int
    means: dict[float, Mean]
    fit: Fit


def make(recipe: Recipe, plan: Plan, settings: Settings, network: Network, journal: Journal, say: Say) -> Profile:
    """Run until every mean is known well enough; append each run to the journal. Raises `ProfileError`."""
    step = sweep.next_step(plan, journal.runs)
    if step is not None:
        if journal.runs:
            say(f"resuming after {len(journal.runs)} runs")
        bench = _Bench(recipe, settings, network, journal.runs, RetryBudget(settings.patience_s, say))
        try:
            bench.warm_up(step.load)
            while step is not None:
                run = bench.run(step)
                journal.add(run)
                say(_progress(recipe, plan, journal.runs, run))
                step = sweep.next_step(plan, journal.runs)
        finally:
            bench.close()
    return finished(recipe, plan, journal.runs)


def finished(recipe: Recipe, plan: Plan, runs: Sequence[Run]) -> Profile:
    """Return the profile of these runs."""
    swept = [run for run in runs if run.phase == "sweep"]
    load = sweep.saturating_load(plan, runs)
    assert load is not None
    samples = normalise([run.added_us for run in swept], [run.value for run in swept], metric=recipe.metric)
    return Profile(recipe, plan, tuple(runs), load, sweep.means(runs), fit(samples))


class _Bench:
    """A server in its namespace and the benchmark in the other."""

    def __init__(
        self, recipe: Recipe, settings: Settings, network: Network, runs: Sequence[Run], retry_budget: RetryBudget
    ) -> None:
        self._recipe, self._settings, self._network, self._retry_budget = recipe, settings, network, retry_budget
        self._rate = runs[-1].value if runs else None
        self._server: subprocess.Popen[bytes] | None = None
        # Read if the server ends early.
        self._server_output = tempfile.TemporaryFile()  # noqa: SIM115
        if recipe.server is not None:
            words = self._fill_in(recipe.server, 1)
            self._server = child_process.start(
                words, inside=network.server, stdout=self._server_output, stderr=self._server_output
            )

    def warm_up(self, load: int) -> None:
        """Do uncounted runs, the first as soon as the server answers."""
        self._network.add(0)
        until = time.monotonic() + _READY_WITHIN_S
        while True:
            try:
                self._rate = self._measured(load, min(1.0, self._settings.seconds))
                break
            except ProfileError as error:
                if self._server is not None and self._server.poll() is not None:
                    words = shlex.join(self._fill_in(self._recipe.server or (), 1))
                    self._server_output.seek(0)
                    last = self._server_output.read()[-500:].decode(errors="replace")
                    raise ProfileError(f"Server failed: exit code {self._server.returncode}: {words}\n{last}") from None
                if time.monotonic() > until:
                    raise ProfileError(f"No result from the benchmark: {error}") from None
                time.sleep(0.2)
        if self._settings.warm_up_s > 0:
            self._rate = self._measured(load, self._settings.warm_up_s)

    def run(self, step: Step) -> Run:
        """Do one run; repeat it while other work disturbs it, within the retry budget."""
        while True:
            began, monitor = time.monotonic(), LoadMonitor()
            run = self._attempt(step)
            others = monitor.other_processors()
            if not self._retry_budget.retry(others, time.monotonic() - began):
                return replace(run, others=round(others, 3))

    def _attempt(self, step: Step) -> Run:
        for attempt in range(_TRIES):
            self._network.add(step.added_us)
            try:
                self._rate = self._measured(step.load, self._settings.seconds)
                break
            except ProfileError:
                if attempt == _TRIES - 1:
                    raise
        return Run(**asdict(step), value=self._rate or 0.0, achieved_us=self._network.achieved_us())

    def close(self) -> None:
        """Stop the server."""
        if self._server is not None:
            child_process.stop(self._server)
        self._server_output.close()

    def _measured(self, load: int, seconds: float) -> float:
        words, limit_s = self._fill_in(self._recipe.command, load, seconds), 10 * seconds + 60
        try:
            code, output = child_process.run(words, self._network.client, limit_s)
        except OSError as error:
            raise ProfileError(f"Cannot run {error.filename}: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise ProfileError(f"Timeout: more than {limit_s:.0f} s: {shlex.join(words)}") from None
        if code:
            raise ProfileError(f"Benchmark failed: exit code {code}: {shlex.join(words)}\n{output[-500:]}")
        return value_of(self._recipe, output)

    def _fill_in(self, words: Sequence[str], load: int, seconds: float = 1.0) -> list[str]:
        # Benchmarks that take a number of requests get about as many as fit, by the rate of the previous run.
        rate = self._rate if self._rate is not None and self._recipe.metric == "rate" else None
        requests = _FIRST_REQUESTS if rate is None else max(load, round(rate * seconds))
        values = {
            "address": self._network.address,
            "port": str(self._recipe.port),
            "load": str(load),
            "seconds": f"{max(1, round(seconds))}",
            "requests": str(requests),
            "user": spare_user(),
        }
        filled = list(words)
        for name, value in values.items():
            filled = [word.replace(f"{{{name}}}", value) for word in filled]
        return filled


def _progress(recipe: Recipe, plan: Plan, runs: Sequence[Run], run: Run) -> str:
    prefix = f"[{len(runs)}/≥{sweep.expected_steps(plan, runs)}]"
    if run.phase == "load":
        return f"{prefix} load {run.load}: {run.value:,.0f} {recipe.unit}"
    mean = sweep.means(runs)[run.added_us]
    known = "" if mean.half_width is None else f", mean of {mean.count} runs ±{mean.half_width:.1%}"
    off = ""
    if run.achieved_us is not None and run.achieved_us - run.added_us > max(_EXCESS_SHARE * run.added_us, 20):
        off = f"; achieved latency {run.achieved_us:.0f} µs: the machine is too busy"
    return f"{prefix} {run.added_us:g} µs, load {run.load}: {run.value:,.4g} {recipe.unit}{known}{off}"
