"""Transportation problem of tasks and slots, solved to a proven optimum and re-solved after changes.

Jobs supply tasks, machines supply slots, each pair has a cost, and waiting has a price. There are too many pairs for a
flow solver (20 million for a cluster of 12,500 machines), so columns are generated: each job starts with its cheapest
machines. The solved network gives prices, and every pair with a negative reduced cost is added until none is left. That
last pass over all pairs is the proof of optimality.

The network is balanced by two nodes. OUT takes waiting tasks. FREE, the root of the tree, fills unused slots and sends
the remainder plus one unit to OUT; that arc always carries flow, so the basis stays strongly feasible.
"""

import numpy as np
import sinemora_native

from sinemora.recommendations.placement.plan import Certificate
from sinemora.recommendations.placement.problem import Assignment, Ints
from sinemora.recommendations.placement.solvers.cost_kernels import CLOSED, CostMatrix, candidates, violators
from sinemora.recommendations.placement.solvers.spanning_tree import (
    LOWER,
    TREE,
    UNLIMITED,
    UPPER,
    Int32s,
    grown,
    no_arcs,
    no_tree,
    potentials,
    stand_in,
)

_FIRST_COLUMNS = 32
"""Initial machines per job, plus a quarter of its tasks; fewer once prices are known."""
_PRICED_COLUMNS = 32
_SLACK = 5
"""Pairs with a larger reduced cost are dropped before costs change or jobs arrive; `_price` finds them again."""


class Transport:
    """One transportation problem with its basis. `solve` proves what it returns; changes keep the basis.

    `costs` (jobs, machines) is referenced, not copied: uint16 if all costs fit, else int32. Pairs above the
    `waiting_cost` of their job are never used.
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
        """Return the number of jobs."""
        return len(self.supply)

    @property
    def columns(self) -> int:
        """Arcs of the network."""
        return self._count

    # Building ---------------------------------------------------------------------------------------------------

    def _new_basis(self) -> None:
        """Start from a basis in which tasks have the cheapest slots, pair by pair, and the others wait."""
        self._proof: tuple[Ints, Int32s] | None = None
        self._remembered = 0
        machines, jobs = self.machines, self.jobs
        nodes = machines + 2 + self._room
        self._tree = no_tree(nodes)
        room = np.where(self.supply > 0, _FIRST_COLUMNS + self.supply // 4, 0)
        np.minimum(room, machines, out=room)
        size = machines + 1 + jobs
        self._arcs = no_arcs(size + int(room.sum()) * 3 // 2 + 1024)
        self._discount = np.zeros(len(self._arcs.tail), np.int64)
        self._count = machines + 1
        tree, arcs = self._tree, self._arcs
        arcs.tail[: self._count] = self.free
        arcs.head[: self._count] = np.arange(self._count)
        arcs.cost[: self._count] = 0
        arcs.cap[: self._count] = UNLIMITED
        arcs.state[: self._count] = TREE
        own = np.arange(machines, dtype=np.int64)
        sinemora_native.hang_all(tree, own, self.free, own, 0, self.slots)
        sinemora_native.hang_all(tree, np.array([self.out]), self.free, np.array([machines]), 0, np.array([1]))
        self._wait_arc = self._stays = np.empty(0, np.int64)
        self._attach(0, jobs)
        self._open = self.slots > 0
        columns = self._count
        self._add_cheapest(0, room, np.where(self._open, 0, CLOSED))
        sinemora_native.fill_cheapest(self._arcs, tree, columns, self._count, self.free, self.out)
        sinemora_native.walk_tree(self._arcs, tree, self.free)

    def _add_cheapest(self, first: int, most: Ints, price: Ints) -> None:
        """Add the pairs of jobs `first`… with the lowest cost minus slot price."""
        job = np.empty(int(most.sum()) + self.machines, np.int32)
        machine = np.empty_like(job)
        barred = int(self.waiting_cost.max(initial=0)) + 1
        pairs = candidates(self.costs[first : self.jobs], price.astype(np.int32), most, barred, job, machine)
        self._add_columns(job[:pairs] + np.int32(first), machine[:pairs])

    def _slot_values(self) -> Ints:
        """Return the potential of each machine, `CLOSED` where it has no slots."""
        values: Ints = np.where(self._open, potentials(self._tree)[: self.machines], CLOSED)
        return values

    def _attach(self, first: int, last: int) -> None:
        """Attach jobs `first`…`last` to OUT with all their tasks."""
        number = np.arange(first, last)
        arc = self._append(self._node(number), np.full(len(number), self.out), self.waiting_cost[first:last], UNLIMITED)
        self._arcs.state[arc] = TREE
        self._wait_arc = np.concatenate([self._wait_arc, arc])
        sinemora_native.hang_all(self._tree, self._node(number), self.out, arc, 1, self.supply[first:last])

    def _node(self, job: Ints | Int32s) -> Ints:
        return job.astype(np.int64) + self.machines + 2

    def _append(self, tail: Ints, head: Ints | Int32s, cost: Ints, cap: Ints | int, discount: Ints | int = 0) -> Ints:
        """Add arcs without flow; return their numbers."""
        first, last = self._count, self._count + len(tail)
        if last > len(self._arcs.tail):
            self._arcs = grown(self._arcs, first, max(last, len(self._arcs.tail) * 3 // 2))
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
            pivots = sinemora_native.pivot(self._arcs, self._tree, self._count, most)
            self.pivots += pivots
            if pivots == most:  # a basis that is not strongly feasible may cycle: start again from a new one
                if cold:
                    raise RuntimeError("the network simplex does not terminate")
                cold = True
                self._new_basis()
                continue
            self.rounds += 1
            if not self._price():
                return

    def _price(self) -> int:
        """Add all pairs with a negative reduced cost; return their number. 0 proves the optimum."""
        price = self._slot_values().astype(np.int32)
        own = potentials(self._tree)[self.machines + 2 : self.machines + 2 + self.jobs]
        most = np.where(self.supply > 0, np.maximum(32, self.supply // 6), 0)
        np.minimum(most, self.machines, out=most)
        if self._proof is not None:
            # Pairs with a non-negative reduced cost keep it unless a machine's price rose by more than the job's fell.
            old_own, old_price = self._proof
            rise = int((price - old_price).max(initial=0))
            known = len(old_own)
            most[:known][own[:known] - old_own >= rise] = 0
        job = np.empty(int(most.sum()), np.int32)
        machine = np.empty_like(job)
        added = violators(self.costs[: self.jobs], own, price, most, job, machine)
        self._add_columns(job[:added], machine[:added])
        if added == 0:
            self._proof = (own, price)
        return added

    # Changes ----------------------------------------------------------------------------------------------------

    def reprice(self, costs: CostMatrix | None = None) -> None:
        """Take new costs, in place or as another matrix; flows stay, prices follow."""
        if costs is not None:
            self.costs = costs
        self._proof = None
        arcs, count = self._arcs, self._count
        pairs = np.flatnonzero(arcs.head[:count] < self.machines)
        pairs = pairs[arcs.tail[pairs] > self.free]
        job = arcs.tail[pairs] - (self.machines + 2)
        arcs.cost[pairs] = self.costs[job, arcs.head[pairs]].astype(np.int64) - self._discount[pairs]
        sinemora_native.walk_tree(arcs, self._tree, self.free)
        self._forget_idle()

    def arrive(self, costs: CostMatrix, supply: Ints, waiting_cost: Ints) -> None:
        """Add new jobs; `costs` is the matrix of all jobs, new ones last."""
        first = self.jobs
        if first + len(supply) > self._room:
            raise ValueError(f"capacity exceeded: room for {self._room} jobs, not for {first + len(supply)}")
        self._forget_idle()
        self.costs = costs
        self.supply = np.concatenate([self.supply, supply])
        self.waiting_cost = np.concatenate([self.waiting_cost, waiting_cost])
        self._attach(first, self.jobs)
        columns = np.minimum(_PRICED_COLUMNS + supply, self.machines)
        self._add_cheapest(first, columns, self._slot_values())
        sinemora_native.walk_tree(self._arcs, self._tree, self.free)

    def _forget_idle(self) -> None:
        """Drop pairs without flow whose reduced cost exceeds `_SLACK`, if many were added since the last time."""
        if self._count <= 3 * self._remembered // 2:
            return
        arcs, count, hung = self._arcs, self._count, np.flatnonzero(self._tree.parent >= 0)
        potential = potentials(self._tree)
        tail, head = arcs.tail[:count], arcs.head[:count]
        idle = (tail > self.free) & (head < self.machines)
        idle &= (arcs.state[:count] == LOWER) & (arcs.cap[:count] == UNLIMITED)
        keep = ~(idle & (arcs.cost[:count] + potential[tail] - potential[head] > _SLACK))
        number = np.cumsum(keep) - 1
        self._count = self._remembered = int(keep.sum())
        for column in (*arcs, self._discount):
            column[: self._count] = column[:count][keep]
        self._tree.arc[hung] = number[self._tree.arc[hung]]
        self._wait_arc, self._stays = number[self._wait_arc], number[self._stays]

    def let_stay(self, current: Assignment, discount: int) -> None:
        """Make staying `discount` cheaper for the tasks that run at `current`.

        Each entry gets a parallel arc of capacity equal to its tasks; the flow of tasks that stay moves there.
        """
        current = current.merged()
        price = self.costs[current.job, current.machine].astype(np.int64)
        self._stays = self._append(self._node(current.job), current.machine, price, current.count, discount)
        stand_in(self._arcs, self._tree, self.free, self._stays)
        sinemora_native.walk_tree(self._arcs, self._tree, self.free)

    # Reading ----------------------------------------------------------------------------------------------------

    def _flows(self) -> tuple[Ints, Ints]:
        """Return (arc, flow) of every arc with flow."""
        full = np.flatnonzero(self._arcs.state[: self._count] == UPPER)
        nodes = np.flatnonzero(self._tree.parent >= 0)
        nodes = nodes[self._tree.flow[nodes] > 0]
        arc = np.concatenate([full, self._tree.arc[nodes].astype(np.int64)])
        return arc, np.concatenate([self._arcs.cap[full], self._tree.flow[nodes]])

    def assignment(self) -> Assignment:
        """Return the placed tasks."""
        arc, flow = self._flows()
        tail, head = self._arcs.tail[arc], self._arcs.head[arc]
        used = (tail > self.free) & (head < self.machines)
        job = (tail[used] - (self.machines + 2)).astype(np.int64)
        return Assignment(job, head[used].astype(np.int64), flow[used]).merged()

    def certificate(self, placed: Assignment | None = None) -> Certificate:
        """Return the certificate: cost of the plan minus discounts for staying, and the dual value.

        `placed`: the result of `assignment`, if already computed.
        """
        placed = self.assignment() if placed is None else placed
        waiting = self.supply - placed.of_jobs(self.jobs)
        primal = int((self.costs[placed.job, placed.machine].astype(np.int64) * placed.count).sum())
        primal += int((waiting * self.waiting_cost).sum())
        arc, flow = self._flows()
        primal -= int((self._discount[arc] * flow).sum())
        arcs, potential, count = self._arcs, potentials(self._tree), self._count
        dual = int((potential[: self.machines] * self.slots).sum())
        dual -= int((potential[self.machines + 2 : self.machines + 2 + self.jobs] * self.supply).sum())
        bounded = np.flatnonzero(arcs.cap[:count] < UNLIMITED)
        reduced = arcs.cost[bounded] + potential[arcs.tail[bounded]] - potential[arcs.head[bounded]]
        dual += int((np.minimum(reduced, 0) * arcs.cap[bounded]).sum())
        return Certificate(primal, dual)
