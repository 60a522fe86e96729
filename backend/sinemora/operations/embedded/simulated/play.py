"""Command `demo`: load the simulated tenant through the API of agents, then keep it current."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.orm import Session

from sinemora import tables
from sinemora.kit.config import settings
from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.simulated import evaluation, tenant
from sinemora.operations.embedded.simulated.api import HttpApi, Post
from sinemora.operations.embedded.simulated.faults import ONGOING_S, Fault, make_faults
from sinemora.operations.embedded.simulated.progress import say, shown
from sinemora.operations.embedded.simulated.schedule import due_starts, recent_ends
from sinemora.operations.embedded.simulated.sending import Sender
from sinemora.operations.embedded.simulated.state import State
from sinemora.operations.embedded.simulated.tenant import OWN, Home, Simulated
from sinemora.operations.embedded.simulated.windows import WINDOW_S
from sinemora.operations.embedded.simulated.world import World, make_world

assert tables  # models of all features, so that relationships between them resolve
DEFAULT_SEED = 1
# A window is computed so long before its end, and sent so long after it, s.
_AHEAD_S, _AFTER_S = 10.0, 0.3
_DAY_S = 86_400


def play(folder: DataFolder, api: str, seed: int | None, *, fresh: bool, once: bool) -> int:
    """Load the tenant, or continue where an earlier call stopped; then send new windows until Ctrl-C.

    `fresh`: delete the tenant first; `once`: return after loading. EmbeddedError.
    """
    with _alone(folder.path / "demo"):
        demo = load(HttpApi(api), folder.path / "demo" / "simulated.json", seed, fresh=fresh)
        _explain(demo, (folder.running() or {}).get("address", settings().public_url))
        if once:
            return 0
        say("\nSending a new window every minute. Ctrl-C stops it; make demo continues.")
        try:
            while True:
                demo.send_next()
                if folder.running() is None:
                    raise EmbeddedError("Sinemora has stopped.", "Start it with `make up`, then continue: make demo")
        except KeyboardInterrupt:
            say("\nStopped. The data stay; make demo continues.")
    return 0


class Demo:
    """The simulated tenant during loading and afterwards."""

    def __init__(
        self, post: Post, world: World, simulated: Simulated, state: State, path: Path, home: Home = OWN
    ) -> None:
        self.simulated = simulated
        self._home = home
        self._world = world
        self.faults: list[Fault] = make_faults(world, state.began_s)
        self._state = state
        self._path = path
        self._sender = Sender(post, world, self.faults, simulated.mesh_key, state.agents)

    def due(self, now_s: float) -> list[int]:
        """Return the starts of windows that ended before `now_s`, were not sent, and are kept for an hour or more.

        All in Unix s.
        """
        kept_s = int(now_s) - tenant.kept_days(self._home) * _DAY_S + 3600
        return due_starts(max(self._state.sent_until_s, kept_s), now_s)

    def send(self, starts: Sequence[int], done: Callable[[int], None]) -> None:
        """Send windows; `done` is called with the number of windows sent since the last call. EmbeddedError."""

        def sent(some: Sequence[int]) -> None:
            self._state.sent_until_s = some[-1]
            self._state.write(self._path)
            done(len(some))

        self._sender.send(starts, sent)

    def send_next(self) -> None:
        """Send the current window at its end, and those that were missed. EmbeddedError.

        It is computed before its end: alert rules wait three seconds for reports, and then for none.
        """
        end_s = (int(time.time()) // WINDOW_S + 1) * WINDOW_S
        time.sleep(max(0.0, end_s - _AHEAD_S - time.time()))
        *missed, current = self.due(end_s)
        if missed:
            self.send(missed, lambda _: None)
        reports = self._sender.reports([current])
        time.sleep(max(0.0, end_s + _AFTER_S - time.time()))
        self._sender.deliver(reports)
        self._state.sent_until_s = current
        self._state.write(self._path)

    def catch_up(self) -> None:
        """Send all windows that are due, and evaluate the alert rules on the recent ones. EmbeddedError."""
        actor, mesh_id = self.simulated.actor, self.simulated.mesh_id
        evaluated_s = self._state.sent_until_s if self._state.is_loaded else 0
        with evaluation.paused(actor.tenant_id, mesh_id, reset=not self._state.is_loaded) as session:

            def keep() -> None:
                evaluation.keep(session)

            self._send_due(keep)
            if not self._state.is_loaded:
                say("Merging windows into minutes …")
                evaluation.merge_minutes(actor.tenant_key, self.simulated.mesh_key, keep)
                self._send_due(keep)
            evaluation.note_newest(actor.tenant_id, self.simulated.mesh_key)
            # Windows that end meanwhile are sent and evaluated too, so that live evaluation continues without a gap.
            while recent := recent_ends(evaluated_s, self._state.sent_until_s):
                evaluated_s = self._state.sent_until_s
                with shown(f"Evaluating alert rules on {len(recent)} windows", len(recent)) as done:
                    self._evaluate(session, recent, done)
                self._send_due(keep)
        evaluation.leave_out_late_data(actor.tenant_id, mesh_id)
        self._state.is_loaded = True
        self._state.write(self._path)

    def _evaluate(self, session: Session, ends_s: Sequence[int], done: Callable[[int], None]) -> None:
        """Evaluate windows. Applications appear with the last faults: only their current performance is known."""
        for end_s in ends_s:
            if not self._state.is_loaded and end_s > self._state.began_s - ONGOING_S:
                tenant.create_applications(self.simulated, self._world, self.faults, self._home)
            evaluation.evaluate(session, self.simulated.mesh_id, end_s)
            done(1)

    def _send_due(self, keep: Callable[[], None]) -> None:
        """Send the windows that are due; call `keep` now and then."""
        starts = self.due(time.time())
        if not starts:
            return
        with shown(f"Sending {len(starts)} windows of {self._sender.pairs:,} pairs", len(starts)) as done:

            def sent(windows: int) -> None:
                keep()
                done(windows)

            self.send(starts, sent)


def load(
    post: Post,
    path: Path,
    seed: int | None = None,
    *,
    fresh: bool = False,
    world_of: Callable[[int], World] = make_world,
    home: Home = OWN,
) -> Demo:
    """Create the tenant and load its windows, or continue with those that are due. EmbeddedError.

    `path`: the file of its state; `world_of` returns the network of a seed.
    """
    tenant_id = tenant.find(home)
    if fresh and tenant_id is not None:
        say("Deleting the simulated tenant …")
        tenant.delete()
        tenant_id = None
    state = State.read(path)
    if state is not None and state.tenant_id != str(tenant_id):
        state = None
    if state is None and tenant_id is not None and home.is_own:
        raise EmbeddedError(
            f"The tenant {tenant.TENANT} exists, but not the state of its agents ({path}).",
            "To delete the tenant and load it again: make demo FRESH=1",
        )
    if state is not None and seed not in (None, state.seed):
        raise EmbeddedError(
            f"The simulated tenant is loaded with the seed {state.seed}, not {seed}.",
            f"To delete it and load another: make demo FRESH=1 SEED={seed}",
        )
    chosen = state.seed if state is not None else DEFAULT_SEED if seed is None else seed
    world = world_of(chosen)
    simulated = tenant.prepare(world, home=home)
    if simulated.created and home.is_own:
        password = simulated.password or "the one set in SINEMORA_OWNER_PASSWORD"
        say(f"Simulated tenant: {tenant.EMAIL}, password {password}")
        if simulated.password:
            say("The password is shown only this once: note it down.")
    if state is None:
        state = State(str(simulated.actor.tenant_id), chosen, int(time.time()))
        state.write(path)
    state.agents = tenant.enrol_agents(post, world, simulated, state.agents)
    state.write(path)
    demo = Demo(post, world, simulated, state, path, home)
    demo.catch_up()
    return demo


def _explain(demo: Demo, url: str) -> None:
    """Print where to look, and the truth about the faults."""
    print(f"\n  Open      {url}\n  E-mail    {tenant.EMAIL}\n\nFaults of the simulated network:")
    for fault in demo.faults:
        print(f"- {fault.text}")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the lock of the simulated tenant. EmbeddedError when another process loads it."""
    handle = os.open(folder / "simulated.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise EmbeddedError("Another make demo loads the simulated tenant already.", "Let it run.") from None
        yield
    finally:
        os.close(handle)
