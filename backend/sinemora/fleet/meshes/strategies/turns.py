"""Turns: in which windows of a period each pair of a mesh is measured. A pure function of roster and strategy.

The turns of a pair are a word of bits: bit t is set if the pair is measured in every window whose number (its start in
Unix time divided by its length) leaves the remainder t when divided by the period. Agents follow the turns by the clock
of the backend, so that a rotation needs no new plan.

`sparse` divides the rounds of a round-robin tournament (circle method: VMs i and j meet in round i + j modulo n - 1)
among the windows of a period. In each round a VM meets one other, so all VMs have equally many peers in a window. The
rounds are dealt out in random order: pairs of such a window are spread as in a random regular graph. Consecutive
positions belong to one zone, hence two zones meet in m + n - 1 consecutive rounds. Two consecutive groups of rounds
contain a round of every window, so large zones meet in every window; small ones get a pair of their own.
"""

import numpy as np
import numpy.typing as npt

from sinemora.fleet.meshes.strategies.strategy import Strategy, StrategyKind

Words = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
_ONE = np.uint64(1)


def turns_of(strategy: Strategy, zone_of: Ints, planned: Flags, fixed: Flags, focus: Flags | None, seed: int) -> Words:
    """Return the turns of every pair, n×n and symmetric; 0 is a pair that is never measured.

    `zone_of` [n]: the zone of each VM, ascending. `planned` [n, n]: pairs that can be measured. `fixed` [n]: VMs that
    cannot rotate; their pairs have every turn. `focus` [n, n]: pairs that are measured in every window, whatever the
    strategy. `seed` decides the order in which pairs take turns.
    """
    every = np.uint64((1 << strategy.period) - 1)
    always = np.logical_or.outer(fixed, fixed)
    match strategy.kind:
        case StrategyKind.FULL:
            turns = np.full(planned.shape, every)
        case StrategyKind.ZONES:
            turns = _zones(strategy, zone_of, planned)
        case StrategyKind.SPARSE | StrategyKind.EVENT:
            turns = _sparse(strategy.period, zone_of, planned & ~always, seed)
    turns[always] = every
    if focus is not None:  # the turns of other pairs stay as they were
        turns[focus | focus.T] = every
    turns[~planned] = 0
    return turns


def active(turns: Words, period: int, started_at_s: int, window_s: int) -> Flags:
    """Return which pairs are measured in the window that starts at `started_at_s` (Unix time)."""
    turn = np.uint64(started_at_s // window_s % period)
    flags: Flags = (turns >> turn & _ONE).astype(np.bool_)
    return flags


def _sparse(period: int, zone_of: Ints, planned: Flags, seed: int) -> Words:
    taking_part = np.flatnonzero(planned.any(axis=1))
    n = taking_part.size
    turns = np.zeros(planned.shape, np.uint64)
    if n < 2:
        return turns
    rounds = n - 1 if n % 2 == 0 else n
    at = np.arange(n)
    round_of = (at[:, None] + at[None, :]) % rounds
    if n % 2 == 0:  # the last VM stays in the middle of the circle and meets the VM that sits out
        round_of[-1, :-1] = round_of[:-1, -1] = 2 * at[:-1] % rounds
    words = _ONE << _turn_of_rounds(rounds, period, seed).astype(np.uint64)
    turns[np.ix_(taking_part, taking_part)] = words[round_of]
    turns[~planned] = 0
    _add_missing_zone_pairs(turns, period, zone_of, planned)
    return turns


def _turn_of_rounds(rounds: int, period: int, seed: int) -> Ints:
    """Return the turn of each round: each turn once in every `period` consecutive rounds, in random order."""
    groups = -(-rounds // period)
    # SplitMix64 rather than a generator of numpy: plans must not change with its version.
    keys = _mix(np.arange(groups * period, dtype=np.uint64) + _mix(np.array([seed], np.uint64)))
    order = np.argsort(keys.reshape(groups, period), axis=1, kind="stable")
    return order.reshape(-1)[:rounds].astype(np.int64)


def _mix(z: Words) -> Words:
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Words = z ^ (z >> np.uint64(31))
    return mixed


def _add_missing_zone_pairs(turns: Words, period: int, zone_of: Ints, planned: Flags) -> None:
    """Give every pair of zones that can be measured a pair of VMs in every turn, in place."""
    zones = int(zone_of.max()) + 1
    row, column = np.nonzero(np.triu(planned, 1))
    pair_of = zone_of[row] * zones + zone_of[column]
    order = np.argsort(pair_of, kind="stable")
    firsts = np.flatnonzero(np.diff(pair_of[order], prepend=-1))
    if not firsts.size:
        return
    words = np.bitwise_or.reduceat(turns[row, column][order], firsts)
    ends = np.append(firsts[1:], order.size)
    every = (1 << period) - 1
    for at in np.flatnonzero(words != np.uint64(every)).tolist():
        members = order[firsts[at] : ends[at]]
        missing = [turn for turn in range(period) if not int(words[at]) >> turn & 1]
        for number, turn in enumerate(missing):
            chosen = members[number % members.size]
            one, other = row[chosen], column[chosen]
            turns[one, other] |= _ONE << np.uint64(turn)
            turns[other, one] = turns[one, other]


def _zones(strategy: Strategy, zone_of: Ints, planned: Flags) -> Words:
    period = strategy.period
    turns = np.where(zone_of[:, None] == zone_of[None, :], np.uint64((1 << period) - 1), np.uint64(0))
    can = planned.any(axis=1)
    members = [np.flatnonzero((zone_of == zone) & can) for zone in range(int(zone_of.max(initial=-1)) + 1)]
    for turn in range(period):
        chosen = np.concatenate([_representatives(one, turn, strategy) for one in members] or [np.zeros(0, np.int64)])
        turns[np.ix_(chosen, chosen)] |= _ONE << np.uint64(turn)
    return turns


def _representatives(members: Ints, turn: int, strategy: Strategy) -> Ints:
    """Return the members that represent a zone in a turn. Over a period, as many as possible take part."""
    size = members.size
    if size <= strategy.representatives:
        return members
    first = turn * max(strategy.representatives, size // strategy.period)
    step = max(1, min(size // strategy.representatives, size // strategy.period or 1))
    return members[(first + step * np.arange(strategy.representatives)) % size]
