"""Make a profile: start the server, inject latency, run the benchmark."""

import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from sinemora.applications.curves.core.fit import Fit, fit
from sinemora.applications.curves.core.observations import normalise
from sinemora.kit.delaybox import DelayboxError
from sinemora.kit.percent import percent
from sinemora.labs.profiler import child_process, sweep
from sinemora.labs.profiler.interference import LoadMonitor, RetryBudget
from sinemora.labs.profiler.journal import Journal
from sinemora.labs.profiler.network import ProfiledNetwork, spare_user
from sinemora.labs.profiler.output import latency_of, value_of
from sinemora.labs.profiler.recipes import ProfileError, Recipe
from sinemora.labs.profiler.sweep import Condition, Mean, Run, SweepPlan, SweepStep
from sinemora.labs.profiler.variation import Variation

_READY_WITHIN_S = 15.0
_PORT_WITHIN_S = 5.0
_FIRST_REQUESTS = 5_000
# A run may fail once, for example because the machine paused; a second failure is an error.
_TRIES = 2
_EXCESS_SHARE = 0.1

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Settings of each run."""

    seconds: float
    warm_up_s: float
    patience_s: float = 120.0
    """Time for repeating runs that other work on the machine disturbed."""
    variation: Variation | None = None
    """Kind of variance of the plan's varied conditions."""
    delayed: str = "server"
    """Role whose links the network delays."""


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """A finished profile. `fit` is that of the runs without variance; `means` has all conditions."""

    recipe: Recipe
    plan: SweepPlan
    runs: tuple[Run, ...]
    load: int
    means: dict[Condition, Mean]
    fit: Fit
    variation: Variation | None = None
    clients: int = 1
    delayed: str = "server"
    """Role whose links were delayed: `server`, `one-client` or `clients`."""


def make(
    recipe: Recipe, plan: SweepPlan, settings: RunSettings, network: ProfiledNetwork, journal: Journal, say: Say
) -> Profile:
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
    made = finished(recipe, plan, journal.runs, settings.variation)
    return replace(made, clients=len(network.clients), delayed=settings.delayed)


def finished(recipe: Recipe, plan: SweepPlan, runs: Sequence[Run], variation: Variation | None = None) -> Profile:
    swept = [run for run in runs if run.phase == "sweep" and not run.magnitude_us]
    load = sweep.saturating_load(plan, runs)
    assert load is not None
    samples = normalise([run.added_us for run in swept], [run.value for run in swept], metric=recipe.metric)
    return Profile(recipe, plan, tuple(runs), load, sweep.means(runs), fit(samples), variation)


_Result = tuple[float, dict[str, float] | None]


class _Bench:
    """A server in its namespace and the benchmark in those of the clients."""

    def __init__(
        self,
        recipe: Recipe,
        settings: RunSettings,
        network: ProfiledNetwork,
        runs: Sequence[Run],
        retry_budget: RetryBudget,
    ) -> None:
        self._recipe, self._settings, self._network, self._retry_budget = recipe, settings, network, retry_budget
        self._rates = {run.condition: run.value for run in runs}
        self._rate = runs[-1].value if runs else None
        self._condition = Condition(0.0)
        self._server: subprocess.Popen[bytes] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="sinemora-profile-")
        for name, content in recipe.files:
            Path(self._folder.name, name).write_text(self._fill_in([content], 1)[0], "utf-8")
        # Read if the server ends early.
        self._server_output = tempfile.TemporaryFile()  # noqa: SIM115
        texts = (*(recipe.server or ()), *(content for _, content in recipe.files))
        self._named_port = any("{port}" in text for text in texts)
        if recipe.server is not None:
            words = self._fill_in(recipe.server, 1)
            self._server = child_process.start(
                words, inside=network.server, stdout=self._server_output, stderr=self._server_output
            )

    def warm_up(self, load: int) -> None:
        """Do uncounted runs, the first as soon as the server answers."""
        self._network.add(0)
        self._wait_for_port()
        until = time.monotonic() + _READY_WITHIN_S
        while True:
            try:
                self._measured(load, min(1.0, self._settings.seconds))
                break
            except (ProfileError, DelayboxError) as error:
                if self._server is not None and self._server.poll() is not None:
                    words = shlex.join(self._fill_in(self._recipe.server or (), 1))
                    self._server_output.seek(0)
                    last = self._server_output.read()[-500:].decode(errors="replace")
                    raise ProfileError(f"Server failed: exit code {self._server.returncode}: {words}\n{last}") from None
                if time.monotonic() > until:
                    raise ProfileError(f"No result from the benchmark: {error}") from None
                time.sleep(0.2)
        if self._settings.warm_up_s > 0:
            self._measured(load, self._settings.warm_up_s)

    def _wait_for_port(self) -> None:
        """Wait a while until the server has its port: some benchmarks hang if the first connection is refused."""
        if self._server is None or not self._named_port:
            return
        listing = [*self._network.server, "sh", "-c", "cat /proc/net/tcp* /proc/net/udp*"]
        until = time.monotonic() + _PORT_WITHIN_S
        while self._server.poll() is None and time.monotonic() < until:
            tables = subprocess.run(listing, capture_output=True, text=True, check=False).stdout
            if re.search(rf"^ *\d+: [0-9A-F]+:{self._recipe.port:04X} ", tables, re.MULTILINE):
                return
            time.sleep(0.05)

    def run(self, step: SweepStep) -> Run:
        """Do one run; repeat it while other work disturbs it, within the retry budget."""
        while True:
            began, monitor = time.monotonic(), LoadMonitor()
            run = self._attempt(step)
            others = monitor.other_processors()
            if not self._retry_budget.retry(others, time.monotonic() - began):
                return replace(run, others=round(others, 3))

    def _attempt(self, step: SweepStep) -> Run:
        for attempt in range(_TRIES):
            self._inject(step.condition)
            try:
                results = self._measured(step.load, self._settings.seconds)
                break
            except (ProfileError, DelayboxError):
                if attempt == _TRIES - 1:
                    raise
        value, latency_us = self._together(results)
        clients = [{"value": value, "latency_us": latency_us} for value, latency_us in results]
        return Run(
            **asdict(step),
            value=value,
            achieved_us=self._network.achieved_us(),
            latency_us=latency_us,
            clients=clients if len(clients) > 1 else None,
        )

    def _inject(self, condition: Condition) -> None:
        self._condition = condition
        if not condition.magnitude_us:
            self._network.add(condition.added_us)
            return
        assert self._settings.variation is not None
        self._network.vary(*self._settings.variation.words(*condition, Path(self._folder.name)))

    def close(self) -> None:
        """Stop the server."""
        if self._server is not None:
            child_process.stop(self._server)
        self._server_output.close()
        self._folder.cleanup()

    def _measured(self, load: int, seconds: float) -> list[_Result]:
        """Run the benchmark in all clients at once; return value and latency of each."""
        with ThreadPoolExecutor(len(self._network.clients)) as threads:
            results = list(threads.map(lambda client: self._of_client(client, load, seconds), self._network.clients))
        self._rate = self._rates[self._condition] = self._together(results)[0]
        return results

    def _of_client(self, client: list[str], load: int, seconds: float) -> _Result:
        words, limit_s = self._fill_in(self._recipe.command, load, seconds), 10 * seconds + 60
        try:
            code, output = child_process.run(words, client, limit_s)
        except OSError as error:
            raise ProfileError(f"Cannot run {error.filename}: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise ProfileError(f"Timeout: more than {limit_s:.0f} s: {shlex.join(words)}") from None
        if code:
            raise ProfileError(f"Benchmark failed: exit code {code}: {shlex.join(words)}\n{output[-500:]}")
        return value_of(self._recipe, output), latency_of(self._recipe, output)

    def _together(self, results: list[_Result]) -> _Result:
        """Return the result of all clients. Quantiles cannot be merged: each is that of the slowest client."""
        values = [value for value, _ in results]
        known = [latency_us for _, latency_us in results if latency_us is not None]
        latency_us = {name: max(one[name] for one in known) for name in known[0]} if known else None
        if self._recipe.metric == "duration":
            return max(values), latency_us
        return (sum(values) if self._recipe.together == "sum" else min(values)), latency_us

    def _expected_rate(self, loads: int) -> float:
        """Return the rate for benchmarks that take a number of requests: that of the same latency, else a guess."""
        assert self._rate is not None
        if (known := self._rates.get(self._condition)) is not None:
            return known
        # A closed loop has as many requests under way as its load.
        return min(self._rate, loads * 1e6 / self._condition.added_us) if self._condition.added_us else self._rate

    def _fill_in(self, words: Sequence[str], load: int, seconds: float = 1.0) -> list[str]:
        clients = len(self._network.clients)
        requests = _FIRST_REQUESTS
        if self._rate is not None and self._recipe.metric == "rate":
            requests = max(load, round(self._expected_rate(load * clients) * seconds / clients))
        values = {
            "address": self._network.address,
            "port": str(self._recipe.port),
            "load": str(load),
            "seconds": f"{max(1, round(seconds))}",
            "requests": str(requests),
            "user": spare_user(),
            "folder": self._folder.name,
            "clients": str(clients),
            "workers": str(clients * load),
        }
        filled = list(words)
        for name, value in values.items():
            filled = [word.replace(f"{{{name}}}", value) for word in filled]
        return filled


def _progress(recipe: Recipe, plan: SweepPlan, runs: Sequence[Run], run: Run) -> str:
    prefix = f"[{len(runs)}/≥{sweep.expected_steps(plan, runs)}]"
    if run.phase == "load":
        return f"{prefix} load {run.load}: {run.value:,.0f} {recipe.unit}"
    mean = sweep.means(runs)[run.condition]
    known = "" if mean.half_width is None else f", mean of {mean.count} runs ±{percent(mean.half_width)}"
    off = ""
    # Packets keep their order, so that the median of variable latency is above the drawn one.
    known_us = None if run.magnitude_us else run.achieved_us
    if known_us is not None and known_us - run.added_us > max(_EXCESS_SHARE * run.added_us, 20):
        off = f"; achieved latency {known_us:.0f} µs: the machine is too busy"
    varied = f" ± {run.magnitude_us:g} µs each way" if run.magnitude_us else ""
    return f"{prefix} {run.added_us:g} µs{varied}, load {run.load}: {run.value:,.4g} {recipe.unit}{known}{off}"
