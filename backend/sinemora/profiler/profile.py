"""Making a profile: server, network, and runs one after the other."""

import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from sinemora.curves.core.fit import Fit, fit
from sinemora.curves.core.observations import normalise
from sinemora.profiler import kept, sweep
from sinemora.profiler.journal import Journal
from sinemora.profiler.network import Network, spare_user
from sinemora.profiler.quiet import Patience, Watch
from sinemora.profiler.recipes import ProfileError, Recipe, value_of
from sinemora.profiler.sweep import Mean, Plan, Run, Step

_READY_WITHIN_S = 15.0
_FIRST_REQUESTS = 5_000
# A run may fail once, for example because the machine paused; twice is a fault.
_TRIES = 2
_FAR_OFF = 0.1

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """How each run is done."""

    seconds: float
    warm_up_s: float
    patience_s: float = 120.0
    """For doing runs again that were disturbed by other work on the machine."""


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
    """Run until everything is known well enough, keeping each run in the journal. Raises `ProfileError`."""
    step = sweep.next_step(plan, journal.runs)
    if step is not None:
        if journal.runs:
            say(f"going on after {len(journal.runs)} runs done before")
        bench = _Bench(recipe, settings, network, journal.runs, Patience(settings.patience_s, say))
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
        self, recipe: Recipe, settings: Settings, network: Network, runs: Sequence[Run], patience: Patience
    ) -> None:
        self._recipe, self._settings, self._network, self._patience = recipe, settings, network, patience
        self._rate = runs[-1].value if runs else None
        self._server: subprocess.Popen[bytes] | None = None
        # Read when the server ends too soon.
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        if recipe.server is not None:
            words = self._filled(recipe.server, 1)
            self._server = kept.start(words, inside=network.server, stdout=self._said, stderr=self._said)

    def warm_up(self, load: int) -> None:
        """Runs that do not count, the first until the server answers."""
        self._network.add(0)
        until = time.monotonic() + _READY_WITHIN_S
        while True:
            try:
                self._rate = self._measured(load, min(1.0, self._settings.seconds))
                break
            except ProfileError as error:
                if self._server is not None and self._server.poll() is not None:
                    words = shlex.join(self._filled(self._recipe.server or (), 1))
                    self._said.seek(0)
                    last = self._said.read()[-500:].decode(errors="replace")
                    raise ProfileError(f"the server ended with {self._server.returncode}: {words}\n{last}") from None
                if time.monotonic() > until:
                    raise ProfileError(f"the benchmark gives no result: {error}") from None
                time.sleep(0.2)
        if self._settings.warm_up_s > 0:
            self._rate = self._measured(load, self._settings.warm_up_s)

    def run(self, step: Step) -> Run:
        """Do one run; again while other work disturbs it and there is patience."""
        while True:
            began, watch = time.monotonic(), Watch()
            run = self._tried(step)
            others = watch.others()
            if not self._patience.again(others, time.monotonic() - began):
                return replace(run, others=round(others, 3))

    def _tried(self, step: Step) -> Run:
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
            kept.stop(self._server)
        self._said.close()

    def _measured(self, load: int, seconds: float) -> float:
        words, limit_s = self._filled(self._recipe.command, load, seconds), 10 * seconds + 60
        try:
            code, output = kept.run(words, self._network.client, limit_s)
        except OSError as error:
            raise ProfileError(f"{error.filename} cannot be run: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise ProfileError(f"took more than {limit_s:.0f} s: {shlex.join(words)}") from None
        if code:
            raise ProfileError(f"ended with {code}: {shlex.join(words)}\n{output[-500:]}")
        return value_of(self._recipe, output)

    def _filled(self, words: Sequence[str], load: int, seconds: float = 1.0) -> list[str]:
        # What counts requests instead of seconds gets about as many as fit; the rate of the run before tells.
        known = self._rate if self._rate is not None and self._recipe.metric == "rate" else None
        requests = _FIRST_REQUESTS if known is None else max(load, round(known * seconds))
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
    head = f"[{len(runs)}/≥{sweep.expected_steps(plan, runs)}]"
    if run.phase == "load":
        return f"{head} load {run.load}: {run.value:,.0f} {recipe.unit}"
    mean = sweep.means(runs)[run.added_us]
    known = "" if mean.half_width is None else f", mean of {mean.count} known to ±{mean.half_width:.1%}"
    off = ""
    if run.achieved_us is not None and run.achieved_us - run.added_us > max(_FAR_OFF * run.added_us, 20):
        off = f"; {run.achieved_us:.0f} µs were really added: the machine is too busy"
    return f"{head} {run.added_us:g} µs, load {run.load}: {run.value:,.4g} {recipe.unit}{known}{off}"
