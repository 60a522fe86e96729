"""Random histories of a control group: agents, two API processes and a network that loses, delays and repeats messages.

Agents and API processes restart, agents join and leave, meshes and orders change meanwhile. `PlanWatch`, the plans and
the barrier are the product's. The agent follows the rules of `agent/src/plan/poll.rs`: one poll in flight, a plan is
stored, put in force, then named. `Faults` breaks one rule at a time, to show that its violation is found.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from random import Random
from uuid import UUID

from sinemora.fleet.meshes.control_group import LIVE_S, Barrier, GroupMember, Poll, polled
from sinemora.fleet.meshes.plan import mesh_part, revision_of
from sinemora.fleet.meshes.watch import PlanWatch, TenantMeshes
from tests.fleet.meshes.group_world import MESHES, Agent, Faults, Held, Plan, State, plan_in, revision_in

TENANT = UUID(int=7)
_VMS = 6
_PATIENCE = 120
STEPS = 40


class History:
    """One history: a tenant, its agents, two API processes, the records of polls, and what was violated."""

    def __init__(self, random: Random, faults: Faults) -> None:
        self.random, self.faults = random, faults
        self.states = [State()]
        self.agents: dict[int, Agent] = {}
        self.polls: dict[UUID, Poll] = {}
        self.now_s = 0.0
        self.loss = random.choice((0.0, 0.1, 0.4))
        self.apis = [PlanWatch(self._read), PlanWatch(self._read)]
        self.violations: list[str] = []
        self._orders = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, steps: int) -> None:
        """Run `steps` random events, then let messages through until the barrier has to be reached."""
        for key in range(1, 4):
            self._join(key)
        for _ in range(steps):
            self.random.choices(EVENTS, WEIGHTS)[0](self)
            await self._pause(30)
        await self._settle()

    async def _settle(self) -> None:
        while self._tasks:
            await asyncio.sleep(0)
        self.loss = 0.0
        self.now_s += LIVE_S + 1
        running = [agent for agent in self.agents.values() if agent.runs]
        for agent in self.agents.values():
            agent.reports = agent.reports and agent.runs
        for _ in range(3):
            await asyncio.gather(*(self._one_poll(agent, agent.run, patience=10_000) for agent in running))
        for mesh, members in enumerate(self.states[-1].members):
            found = self._barrier(mesh, self.states[-1], dict(self.polls))
            if any(agent.key in members for agent in running) and not found.active_everywhere:
                self.violations.append("the barrier is never reached")

    # Events.

    def _start(self, work: "asyncio.Task[None]") -> None:
        self._tasks.add(work)
        work.add_done_callback(self._tasks.discard)

    def _poll(self) -> None:
        self._begin_poll(self.random.choice(list(self.agents.values())))

    def _ask_times(self) -> None:
        for agent in self.agents.values():
            if agent.runs:
                self._start(asyncio.create_task(self._ask_time(agent)))

    def _begin_poll(self, agent: Agent) -> None:
        if agent.runs and (not agent.polls or self.faults.accepts_late):
            # Counted here: the task starts later, and another event may come before.
            agent.polls += 1
            self._start(asyncio.create_task(self._one_poll(agent, agent.run)))

    def _poll_all(self) -> None:
        for agent in self.agents.values():
            self._begin_poll(agent)

    def _change(self) -> None:
        mesh = self.random.randrange(len(MESHES))
        self.states.append(self.states[-1].changed(mesh, self.now_s, rate=self.random.choice((1, 2, 4, 8, 16))))

    def _order(self) -> None:
        state = self.states[-1]
        self._orders += not state.orders
        self.states.append(replace(state, orders=frozenset() if state.orders else frozenset({100 + self._orders})))

    def _change_agent(self) -> None:
        key = self.random.randint(1, _VMS)
        mesh = self.random.randrange(len(MESHES))
        if key not in self.agents:
            self._join(key)
            return
        members = self.states[-1].members[mesh]
        self.states.append(self.states[-1].changed(mesh, self.now_s, members=members ^ {key}))

    def _join(self, key: int) -> None:
        self.agents[key] = Agent(key)
        mesh = self.random.randrange(len(MESHES))
        self.states.append(self.states[-1].changed(mesh, self.now_s, members=self.states[-1].members[mesh] | {key}))

    def _restart(self) -> None:
        if self.random.random() < 0.3:
            self.apis[self.random.randrange(2)] = PlanWatch(self._read)
            return
        agent = self.random.choice(list(self.agents.values()))
        if agent.runs and self.random.random() < 0.4:
            agent.run, agent.runs = agent.run + 1, False
        else:
            if agent.restart():
                self.violations.append("a plan goes back")
        agent.polls = 0
        agent.reports = agent.runs and self.random.random() < 0.5

    def _judge(self) -> None:
        self._start(asyncio.create_task(self._check_barrier(self.random.randrange(len(MESHES)))))

    def _wait(self) -> None:
        self.now_s += self.random.choice((1, 10, 40))

    # Messages.

    async def _pause(self, most: int) -> None:
        for _ in range(self.random.randrange(most)):
            await asyncio.sleep(0)

    async def _ask_time(self, agent: Agent) -> None:
        """Ask for the backend's time, which names the plan in force and ignores the answer's plan."""
        tag = agent.tag
        await self._pause(12)
        if self.random.random() >= self.loss:
            self._note(agent, tag)

    async def _one_poll(self, agent: Agent, run: int, patience: int = _PATIENCE) -> None:
        tag, sent = agent.tag, len(self.states) - 1
        answers: list[Plan | None] = []
        copies = [self._serve(agent, tag, answers) for _ in range(1 + (self.random.random() < 0.15))]
        served = [asyncio.create_task(copy) for copy in copies]
        for task in served:
            self._start(task)
        if self.faults.accepts_late:
            await asyncio.gather(*served)
        for _ in range(patience):
            if answers or agent.run != run:
                break
            await asyncio.sleep(0)
        if agent.run != run:
            return
        if answers and answers[0] is not None:
            await self._accept(agent, run, Held(answers[0], self._version(agent, answers[0], sent)))
        elif answers and agent.in_force is not None:
            self._version(agent, agent.in_force.plan, sent)
        if agent.run == run:
            agent.polls -= 1

    async def _accept(self, agent: Agent, run: int, held: Held) -> None:
        def store() -> None:
            agent.on_disk = held

        def follow() -> None:
            agent.in_force = held

        def name() -> None:
            agent.tag = str(held.plan["revision"])

        steps = [store, follow, name]
        if self.faults.names_early:
            steps = [name, store, follow]
        elif self.faults.stores_late:
            steps = [follow, name, store]
        for step in steps:
            if agent.run != run:
                return
            step()
            await self._pause(40)

    async def _serve(self, agent: Agent, tag: str | None, answers: list[Plan | None]) -> None:
        """Serve a poll as the route does, in a random process. A process that restarts meanwhile sends no answer."""
        await self._pause(20)
        if self.random.random() < self.loss:
            return
        at = self.random.randrange(2)
        api = self.apis[at]
        self._note(agent, tag)
        await self._pause(4)
        for held in range(self.random.randint(1, 3), 0, -1):
            meshes = await api.meshes_of(TENANT)
            if revision_in(meshes, agent.key) != tag:
                answer = plan_in(meshes, agent.key)
                break
            if held > 1:
                await self._pause(12)
        else:
            answer = None
        await self._pause(20)
        if api is self.apis[at] and self.random.random() >= self.loss:
            answers.append(answer)

    async def _read(self, _tenant: UUID, cached: TenantMeshes | None) -> TenantMeshes:
        """Read the tenant in one snapshot; its statements take time."""
        await self._pause(4)
        state = self.states[-1]
        await self._pause(40)
        if cached is not None and cached.fingerprint == state.fingerprint:
            return cached
        if self.faults.reads_apart:
            return self.states[-1].tenant_meshes(state.fingerprint)
        return state.tenant_meshes()

    def _note(self, agent: Agent, tag: str | None) -> None:
        agent.reached_s = self.now_s
        if tag is not None or not self.faults.notes_named_only:
            id = UUID(int=agent.key)
            self.polls[id] = polled(self.polls.get(id), mesh_part(tag or ""), self.now_s)

    # Judgements.

    def _version(self, agent: Agent, plan: Plan, sent: int) -> int:
        """Return the earliest version that the plan may be of, and record what an answer with it violates."""
        least = agent.on_disk.version if agent.on_disk else 0
        matching = [at for at, state in enumerate(self.states) if state.plan_of(agent.key) == plan]
        if not matching:
            self.violations.append("a plan is of no single snapshot")
        elif matching[-1] < least:
            self.violations.append("a plan goes back")
        elif matching[-1] < sent:
            self.violations.append("an answer is older than its poll")
        return next((at for at in matching if at >= max(least, sent)), least)

    async def _check_barrier(self, mesh: int) -> None:
        polls = dict(self.polls)
        live = [
            agent
            for agent in self.agents.values()
            if agent.reports or (agent.reached_s is not None and self.now_s - agent.reached_s <= LIVE_S)
        ]
        await self._pause(6)
        state = self.states[-1]
        since_s = self._barrier(mesh, state, polls).since_s
        if since_s is None:
            return
        if not state.changed_s[mesh] <= since_s <= self.now_s:
            self.violations.append("the barrier has a wrong time")
        for agent in live:
            # That its plan may be older in another mesh is no violation.
            if agent.key in state.members[mesh] and not self._follows(agent, state, mesh):
                self.violations.append("the barrier is early")

    def _follows(self, agent: Agent, state: State, mesh: int) -> bool:
        """Return whether an agent follows a mesh at its revision in `state`, or at a later one."""
        held = agent.in_force if agent.runs else agent.on_disk
        if held is None:
            return False
        its = self.states[held.version]
        return agent.key in its.members[mesh] and its.revisions[mesh] >= state.revisions[mesh]

    def _barrier(self, mesh: int, state: State, polls: Mapping[UUID, Poll]) -> Barrier:
        members = [
            GroupMember(UUID(int=key), f"vm-{key}", _newest(state, key), self.agents[key].reports)
            for key in sorted(state.members[mesh])
        ]
        return self.faults.barrier(members, polls, self.now_s)


def _newest(state: State, key: int) -> str:
    pairs = zip(MESHES, state.revisions, state.members, strict=True)
    return revision_of(UUID(int=key), [(id, revision) for id, revision, members in pairs if key in members])


EVENTS = (
    History._poll,
    History._poll_all,
    History._ask_times,
    History._change,
    History._order,
    History._change_agent,
    History._restart,
    History._judge,
    History._wait,
)
WEIGHTS = (4, 6, 4, 2, 4, 1, 2, 6, 1)


def violations(randoms: Iterable[Random], faults: Faults) -> list[str]:
    """Run a history for each generator; return what they violated."""

    async def run() -> list[str]:
        found: list[str] = []
        for random in randoms:
            history = History(random, faults)
            await history.run(STEPS)
            found += history.violations
        return found

    return asyncio.run(run())
