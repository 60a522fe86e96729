"""The transportation problem of tasks and slots, solved to a proven optimum and again after changes.

Jobs supply tasks, machines take as many as they have slots, any pair may be used at its own cost, and waiting has a
price. There are far more pairs than a flow solver should see (20 million for a cluster of 12,500 machines), so columns
are generated: each job starts with its cheapest machines, prices come from the solved network, and every pair that
would still improve on them is added until none does. That last look at all pairs is the proof of optimality.

The network is closed: besides jobs and machines it has OUT, where waiting tasks go, and FREE, the root of the tree,
which fills the slots that no task takes (and sends OUT the rest, one unit more, so that this arc always carries flow
and the basis stays strongly feasible).
"""

import numpy as np

from sinemora.recommender.placement.pairs import CostMatrix, candidates, violators
from sinemora.recommender.placement.plan import Certificate
from sinemora.recommender.placement.problem import Assignment, Ints
from sinemora.recommender.placement.simplex import (
    LOWER,
    TREE,
    UNLIMITED,
    UPPER,
    Arcs,
    Int32s,
    hang_all,
    no_arcs,
    no_tree,
    pivot,
    walk,
)

_CLOSED = -(1 << 29)
"""Price of a machine without slots: nothing enters."""
_FIRST_COLUMNS = 128


class Transport:
    """One transportation problem with its basis. `solve` proves what it returns; changes keep the basis.

    `costs` (jobs, machines) is kept, not copied: uint16 where all costs fit, else int32. Whatever costs more than its
    job's `waiting_cost` is never used.
    """

    def __init__(
        self, costs: CostMatrix, supply: Ints, slots: Ints, waiting_cost: Ints, room_for_jobs: int = 0
    ) -> None:
        self.machines = len(slots)
        self.out, self.free = self.machines, self.machines + 1
        self.slots = slots
        self.costs = costs
        self.supply = supply.copy()
        self.waiting_cost = waiting_cost.copy()
        self.pivots = self.rounds = 0
        self._room = max(len(supply), room_for_jobs)
        self._new_basis()

    @property
    def jobs(self) -> int:
        """How many jobs there are."""
        return len(self.supply)

    @property
    def columns(self) -> int:
        """Arcs of the network."""
        return self._count

    # Building ---------------------------------------------------------------------------------------------------

    def _new_basis(self) -> None:
        """Every task waits."""
        machines, jobs = self.machines, self.jobs
        nodes = machines + 2 + self._room
        self._tree = no_tree(nodes)
        wanted = np.where(self.supply > 0, _FIRST_COLUMNS + self.supply // 4, 0)
        np.minimum(wanted, machines, out=wanted)
        size = machines + 1 + jobs
        self._arcs = no_arcs(size + int(wanted.sum()) * 3 // 2 + 1024)
        self._discount = np.zeros(len(self._arcs.tail), np.int64)
        self._count = machines + 1
        tree, arcs = self._tree, self._arcs
        arcs.tail[: self._count] = self.free
        arcs.head[: self._count] = np.arange(self._count)
        arcs.cost[: self._count] = 0
        arcs.cap[: self._count] = UNLIMITED
        arcs.state[: self._count] = TREE
        own = np.arange(machines, dtype=np.int64)
        hang_all(tree, own, self.free, own, 0, self.slots)
        hang_all(tree, np.array([self.out]), self.free, np.array([machines]), 0, np.array([1]))
        self._wait_arc = self._stays = np.empty(0, np.int64)
        self._attach(0, jobs)
        self._open = self.slots > 0
        job = np.empty(int(wanted.sum()) + machines, np.int32)
        machine_ = np.empty_like(job)
        found = candidates(self.costs[:jobs], self._open, wanted, self._barred(), job, machine_)
        self._add_columns(job[:found], machine_[:found])
        walk(arcs, tree, self.free)

    def _barred(self) -> int:
        return int(self.waiting_cost.max(initial=0)) + 1

    def _attach(self, first: int, last: int) -> None:
        """Hang jobs `first`…`last` under OUT with all their tasks."""
        number = np.arange(first, last)
        arc = self._append(self._node(number), np.full(len(number), self.out), self.waiting_cost[first:last], UNLIMITED)
        self._arcs.state[arc] = TREE
        self._wait_arc = np.concatenate([self._wait_arc, arc])
        hang_all(self._tree, self._node(number), self.out, arc, 1, self.supply[first:last])

    def _node(self, job: Ints | Int32s) -> Ints:
        return job.astype(np.int64) + self.machines + 2

    def _append(self, tail: Ints, head: Ints | Int32s, cost: Ints, cap: Ints | int, discount: Ints | int = 0) -> Ints:
        """New arcs without flow; their numbers."""
        first, last = self._count, self._count + len(tail)
        if last > len(self._arcs.tail):
            self._arcs = _grown(self._arcs, first, max(last, len(self._arcs.tail) * 3 // 2))
            self._discount = np.concatenate(
                [self._discount, np.zeros(len(self._arcs.tail) - len(self._discount), np.int64)]
            )
        arcs, at = self._arcs, slice(first, last)
        arcs.tail[at], arcs.head[at], arcs.cap[at] = tail, head, cap
        arcs.cost[at] = cost - discount
        arcs.state[at] = LOWER
        self._discount[at] = discount
        self._count = last
        return np.arange(first, last)

    def _add_columns(self, job: Int32s, machine: Int32s) -> None:
        self._append(self._node(job), machine, self.costs[job, machine].astype(np.int64), UNLIMITED)

    # Solving ----------------------------------------------------------------------------------------------------

    def solve(self) -> None:
        """Pivot and add columns until no pair of job and machine can improve the plan."""
        cold = False
        while True:
            most = 20 * (self._count + self.machines + self.jobs)
            pivots = pivot(self._arcs, self._tree, self._count, most)
            self.pivots += pivots
            if pivots == most:  # a basis that is not strongly feasible may go round for ever: start afresh
                if cold:
                    raise RuntimeError("the network simplex does not end")
                cold = True
                self._new_basis()
                continue
            self.rounds += 1
            if not self._price():
                return

    def _price(self) -> int:
        """Look at all pairs; add those that would improve. 0 proves the optimum."""
        potential = self._tree.potential
        price = np.where(self._open, potential[: self.machines], _CLOSED).astype(np.int32)
        most = np.where(self.supply > 0, np.maximum(32, self.supply // 6), 0)
        np.minimum(most, self.machines, out=most)
        job = np.empty(int(most.sum()), np.int32)
        machine = np.empty_like(job)
        own = potential[self.machines + 2 : self.machines + 2 + self.jobs]
        found = violators(self.costs[: self.jobs], own, price, most, job, machine)
        self._add_columns(job[:found], machine[:found])
        return found

    # Changes ----------------------------------------------------------------------------------------------------

    def reprice(self, costs: CostMatrix | None = None) -> None:
        """Take new costs, in place or as another matrix; flows stay, prices follow."""
        if costs is not None:
            self.costs = costs
        arcs, count = self._arcs, self._count
        pairs = np.flatnonzero(arcs.head[:count] < self.machines)
        pairs = pairs[arcs.tail[pairs] > self.free]
        job = arcs.tail[pairs] - (self.machines + 2)
        arcs.cost[pairs] = self.costs[job, arcs.head[pairs]].astype(np.int64) - self._discount[pairs]
        walk(arcs, self._tree, self.free)

    def arrive(self, costs: CostMatrix, supply: Ints, waiting_cost: Ints) -> None:
        """Jobs that were not there; `costs` is the matrix of all jobs, theirs at the end."""
        first = self.jobs
        if first + len(supply) > self._room:
            raise ValueError(f"room for {self._room} jobs, not for {first + len(supply)}")
        self.costs = costs
        self.supply = np.concatenate([self.supply, supply])
        self.waiting_cost = np.concatenate([self.waiting_cost, waiting_cost])
        self._attach(first, self.jobs)
        wanted = np.minimum(_FIRST_COLUMNS + supply // 4, self.machines)
        job = np.empty(int(wanted.sum()) + self.machines, np.int32)
        machine = np.empty_like(job)
        found = candidates(costs[first : self.jobs], self._open, wanted, self._barred(), job, machine)
        self._add_columns(job[:found] + np.int32(first), machine[:found])
        walk(self._arcs, self._tree, self.free)

    def discount_stays(self, discount: int) -> None:
        """Change what staying is worth to every task that `resume` said runs; flows stay, prices follow."""
        self._discount[self._stays] = discount
        self.reprice()

    def resume(self, current: Assignment, discount: int) -> None:
        """Take `current`, where tasks run now, as the flow, and the prices as they are; staying is `discount` cheaper.

        The tree keeps its shape. Flow that is not on it goes to arcs of its own, full and as wide as it is, so that the
        basis describes any placement; the next pivots then only have to improve it.
        """
        current = current.merged()
        machines, jobs, tree, old = self.machines, self.jobs, self._tree, self._arcs
        tail, head = old.tail[: self._count], old.head[: self._count]
        pairs = (tail > self.free) & (head < machines)
        of_pairs = (tail[pairs] - (machines + 2)).astype(np.int64) * machines + head[pairs]
        keys = np.unique(np.concatenate([of_pairs, current.job * machines + current.machine]))
        nodes = np.flatnonzero(tree.parent >= 0)
        at_tail, at_head = tail[tree.arc[nodes]].astype(np.int64), head[tree.arc[nodes]].astype(np.int64)
        is_pair = (at_tail > self.free) & (at_head < machines)
        self._arcs = no_arcs(machines + 1 + jobs + len(keys) * 9 // 8 + 2 * len(current.job) + machines + 1024)
        self._discount = np.zeros(len(self._arcs.tail), np.int64)
        self._count = 0
        each = np.arange(machines + 1)
        self._append(np.full(machines + 1, self.free), each, np.zeros_like(each), UNLIMITED)
        number = self._node(np.arange(jobs))
        self._wait_arc = self._append(number, np.full(jobs, self.out), self.waiting_cost, UNLIMITED)
        plain = self._count
        self._add_columns((keys // machines).astype(np.int32), (keys % machines).astype(np.int32))
        # The tree's arcs under their new numbers.
        arc = np.where(at_tail == self.free, at_head, machines + 1 + at_tail - (machines + 2))
        pair_keys = (at_tail[is_pair] - (machines + 2)) * machines + at_head[is_pair]
        arc[is_pair] = plain + np.searchsorted(keys, pair_keys)
        tree.arc[nodes] = arc
        tree.flow[nodes] = 0
        self._arcs.state[arc] = TREE
        # What flows: placed tasks, waiting ones, free slots.
        placed, loads = current.of_jobs(jobs), current.on_machines(machines)
        node_of_arc = np.full(self._count, -1, np.int64)
        node_of_arc[arc] = nodes
        self._carry(machines, np.array([1 + int(placed.sum())]), node_of_arc)
        self._carry(np.arange(machines), self.slots - loads, node_of_arc)
        self._carry(self._wait_arc, self.supply - placed, node_of_arc)
        stays = plain + np.searchsorted(keys, current.job * machines + current.machine)
        own = self._stays = self._bounded(stays, current.count, discount)
        node = node_of_arc[stays]
        # A full arc may hang from its parent, an empty one may not: so the basis stays strongly feasible.
        down = (node >= 0) & (tree.up[np.maximum(node, 0)] == 0)
        tree.arc[node[down]] = own[down]
        tree.flow[node[down]] = current.count[down]
        self._arcs.state[own[down]] = TREE
        self._arcs.state[stays[down]] = LOWER
        walk(self._arcs, tree, self.free)

    def _carry(self, arc: Ints | int, flow: Ints, node_of_arc: Ints) -> None:
        """Put flow on arcs of the tree, and beside the others on full arcs of their own."""
        arc = np.atleast_1d(arc)
        node = node_of_arc[arc]
        self._tree.flow[node[node >= 0]] = flow[node >= 0]
        beside = (node < 0) & (flow > 0)
        self._bounded(arc[beside], flow[beside], 0)

    def _bounded(self, like: Ints, cap: Ints, discount: int) -> Ints:
        """Full arcs beside others, `discount` cheaper; their numbers."""
        arcs = self._arcs
        own = self._append(arcs.tail[like].astype(np.int64), arcs.head[like], arcs.cost[like], cap, discount)
        self._arcs.state[own] = UPPER
        return own

    # Reading ----------------------------------------------------------------------------------------------------

    def _flows(self) -> tuple[Ints, Ints]:
        """(arc, flow) of every arc that carries something."""
        full = np.flatnonzero(self._arcs.state[: self._count] == UPPER)
        nodes = np.flatnonzero(self._tree.parent >= 0)
        nodes = nodes[self._tree.flow[nodes] > 0]
        arc = np.concatenate([full, self._tree.arc[nodes].astype(np.int64)])
        return arc, np.concatenate([self._arcs.cap[full], self._tree.flow[nodes]])

    def assignment(self) -> Assignment:
        """The tasks that are placed."""
        arc, flow = self._flows()
        tail, head = self._arcs.tail[arc], self._arcs.head[arc]
        used = (tail > self.free) & (head < self.machines)
        job = (tail[used] - (self.machines + 2)).astype(np.int64)
        return Assignment(job, head[used].astype(np.int64), flow[used]).merged()

    def waiting(self) -> Ints:
        """Tasks of each job that are not placed."""
        return self.supply - self.assignment().of_jobs(self.jobs)

    def certificate(self) -> Certificate:
        """Cost of the plan, discounts for staying taken off, against the value of the prices."""
        placed = self.assignment()
        waiting = self.supply - placed.of_jobs(self.jobs)
        primal = int((self.costs[placed.job, placed.machine].astype(np.int64) * placed.count).sum())
        primal += int((waiting * self.waiting_cost).sum())
        arc, flow = self._flows()
        primal -= int((self._discount[arc] * flow).sum())
        arcs, potential, count = self._arcs, self._tree.potential, self._count
        dual = int((potential[: self.machines] * self.slots).sum())
        dual -= int((potential[self.machines + 2 : self.machines + 2 + self.jobs] * self.supply).sum())
        bounded = np.flatnonzero(arcs.cap[:count] < UNLIMITED)
        reduced = arcs.cost[bounded] + potential[arcs.tail[bounded]] - potential[arcs.head[bounded]]
        dual += int((np.minimum(reduced, 0) * arcs.cap[bounded]).sum())
        return Certificate(primal, dual)

    def prices(self) -> tuple[Ints, Ints]:
        """(what one more slot on each machine saves, what one more task of each job costs), in cost points."""
        potential = self._tree.potential
        return -potential[: self.machines], -potential[self.machines + 2 : self.machines + 2 + self.jobs]


def _grown(old: Arcs, count: int, room: int) -> Arcs:
    """Arrays of `room` arcs holding the first `count` of `old`."""
    new = no_arcs(room)
    new.tail[:count], new.head[:count] = old.tail[:count], old.head[:count]
    new.cost[:count], new.cap[:count] = old.cost[:count], old.cap[:count]
    new.state[:count] = old.state[:count]
    return new
