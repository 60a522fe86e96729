"""The simulated network of 100 VMs in 12 zones, fed live: windows are sent, evaluated and merged as workers would."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from lab.benchmarks.figures import comment
from lab.benchmarks.showing.sights import Sight, drift_of, sights_of, sudden_of
from lab.benchmarks.storing.product import Product
from lab.waits import until
from sinemora.alerts.detection.due import GRACE_S
from sinemora.alerts.detection.evaluator import evaluate
from sinemora.kit.db import tenant_session
from sinemora.measurements.store import roll_up
from sinemora.measurements.store.tiers import ROLLED, Tier
from sinemora.operations.embedded.simulated import tenant
from sinemora.operations.embedded.simulated.api import HttpApi
from sinemora.operations.embedded.simulated.faults import Fault
from sinemora.operations.embedded.simulated.sending import Sender
from sinemora.operations.embedded.simulated.world import make_world

WINDOW_S = 10
SEEN_WITHIN = 3
"""Windows within which a fault has to be seen."""
# Baselines of alert rules need 120 windows; usual values need some hours, of which windows are sampled.
_WHOLE_S, _SAMPLED_S, _SAMPLED_EVERY_S = 1_500, 8 * 3_600, 900
# Time from the end of a window to its arrival, s.
_AFTER_S = 0.3
_LOADED_S = 120
"""Time that loading takes, about: the drift can be seen then."""


class Network:
    """A simulated network with history. Use as a context: windows arrive until it ends."""

    def __init__(self, product: Product, seed: int) -> None:
        began = time.monotonic()
        self.world = make_world(seed)
        self._tenant = tenant.prepare(self.world, WINDOW_S)
        self.sign_in = (tenant.EMAIL, self._tenant.password or "")
        """E-mail and password of the owner of the network's tenant."""
        now_s = _floor(time.time())
        self._faults: list[Fault] = [drift_of(self.world, now_s + _LOADED_S)]
        post = HttpApi(product.url(""))
        agents = tenant.enrol_agents(post, self.world, self._tenant, {})
        self._sender = Sender(post, self.world, self._faults, self._tenant.mesh_key, agents, WINDOW_S)
        self._stopped = threading.Event()
        self._load(now_s)
        comment(f"{self.world.size} VMs, seed {seed}: loaded in {time.monotonic() - began:.0f} s")

    def __enter__(self) -> "Network":
        self._running = ThreadPoolExecutor(1).submit(self._run)
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._running.result(60)

    def break_down(self) -> list[Sight]:
        """Start the faults with the next window; return all five once the rules have seen `SEEN_WITHIN` windows."""
        started_s = self._next_s + WINDOW_S  # the reports of the next window may be made already
        self._faults += sudden_of(self.world, started_s)
        seen_s = started_s + SEEN_WITHIN * WINDOW_S
        until(lambda: self._running.done() or self._next_s >= seen_s, "the rules see the faults", 600)
        if self._running.done():
            self._running.result()  # what ended it
        return sights_of(self.world, self._faults)

    def _load(self, now_s: int) -> None:
        """Send the history, merge it and evaluate its whole part; then the windows that ended meanwhile."""
        whole_s = self._next_s = now_s - _WHOLE_S
        sampled = range(whole_s - _SAMPLED_S, whole_s, _SAMPLED_EVERY_S)
        self._sender.send([*sampled, *range(whole_s, now_s, WINDOW_S)], lambda _: None)
        for tier in ROLLED:
            self._merge(tier)
        while self._next_s < now_s:
            self._evaluate_next()
        while self._next_s + WINDOW_S < time.time():
            self._sender.deliver(self._sender.reports([self._next_s]))
            self._evaluate_next()

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._live()

    def _live(self) -> None:
        """Send the current window at its end and evaluate it when it is due."""
        end_s = self._next_s + WINDOW_S
        reports = self._sender.reports([self._next_s])
        if self._stopped.wait(max(0.0, end_s + _AFTER_S - time.time())):
            return
        self._sender.deliver(reports)
        if self._stopped.wait(max(0.0, end_s + GRACE_S - time.time())):
            return
        self._evaluate_next()
        self._merge(Tier.MINUTE)
        if (late_s := time.time() - end_s) > WINDOW_S:
            comment(f"a window was evaluated {late_s:.1f} s after its end: the machine is too busy")

    def _evaluate_next(self) -> None:
        end_s = self._next_s + WINDOW_S
        with tenant_session(self._tenant.actor.tenant_id) as session:
            evaluate(session, self._tenant.mesh_id, end_s, datetime.now(UTC))
        self._next_s = end_s

    def _merge(self, tier: Tier) -> None:
        while roll_up.roll_up_mesh(self._tenant.actor.tenant_key, self._tenant.mesh_key, tier, datetime.now(UTC)):
            pass


def _floor(at_s: float) -> int:
    return int(at_s) // WINDOW_S * WINDOW_S
