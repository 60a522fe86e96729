"""Control group of a mesh: which of its agents are live, which plan each follows, and the barrier of a revision.

The model is virtual synchrony: members of a group see the same changes in the same order, a member that joins gets the
state as one step, and a barrier returns once every member has a change. Here the members are agents, a change is a
revision of a mesh, and the state is the whole plan. A member may skip revisions, since a plan replaces the one before.

Source: K. Birman and T. Joseph, "Exploiting Virtual Synchrony in Distributed Systems", SOSP 1987, as the control plane
of Z. Nabi, "Mission Control: Enabling Efficient and Heterogeneous Data Transfers in Data Intensive Computing",
University of Cambridge, 2012, uses it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

LIVE_S = 90.0
"""Time after its last poll for which an agent counts as live. Polls follow one another within 41 s while the backend
answers (25 s of waiting, 15 s of grace, a pause of 1 s), and within about 75 s after failures.
"""


@dataclass(frozen=True, slots=True)
class Poll:
    """Newest poll of an agent: the revision of the plan that it follows, empty if it names none, and its Unix time, s.

    `since_s`: time of the first of the successive polls with this revision.
    """

    revision: str
    at_s: float
    since_s: float


@dataclass(frozen=True, slots=True)
class GroupMember:
    """Agent of a mesh. `newest`: the revision of its newest plan; `reports`: it has reported recently."""

    id: UUID
    name: str
    newest: str
    reports: bool = False


@dataclass(frozen=True, slots=True)
class Barrier:
    """Barrier of the newest revision of a mesh: names of agents, each in the order of the members.

    `behind`: live, with another plan. `unnamed`: live, without a plan that it names. `absent`: not live.
    `since_s`: Unix time since which no live agent has been waited for, None unless active everywhere. An agent that
    stopped asking counts until `LIVE_S` after its last poll.
    """

    following: tuple[str, ...]
    behind: tuple[str, ...]
    unnamed: tuple[str, ...]
    absent: tuple[str, ...]
    since_s: float | None = None

    @property
    def live(self) -> int:
        """Return the number of live agents."""
        return len(self.following) + len(self.behind) + len(self.unnamed)

    @property
    def active_everywhere(self) -> bool:
        """Return whether every live agent follows the revision. Without a live agent it is active nowhere."""
        return bool(self.following) and not self.behind and not self.unnamed


def polled(before: Poll | None, revision: str, at_s: float) -> Poll:
    """Return the newest poll of an agent, given the one before."""
    if before is None or before.revision != revision:
        return Poll(revision, at_s, at_s)
    return replace(before, at_s=at_s)


def is_live(member: GroupMember, poll: Poll | None, now_s: float) -> bool:
    """Return whether an agent counts at `now_s` (Unix time).

    One that reports counts without a poll, too: it measures by some plan.
    """
    return member.reports or (poll is not None and now_s - poll.at_s <= LIVE_S)


def barrier(members: Sequence[GroupMember], polls: Mapping[UUID, Poll], now_s: float) -> Barrier:
    """Return the barrier of the revision that `members` belong to.

    It holds for this mesh: the hash that an agent names contains the mesh's revision, which never returns, so an agent
    that once named the newest still has the mesh at it. The hash of a VM in several meshes may return, when the VM
    joins another mesh and leaves it: for a moment the agent's plan may then be an older one in that other mesh.
    `polls` must be read before `members`: then a named revision is never newer than the one it is compared with.
    """
    following: list[str] = []
    behind: list[str] = []
    unnamed: list[str] = []
    absent: list[str] = []
    # Times at which an agent began to follow, or was no longer waited for.
    since: list[float] = []
    for member in members:
        poll = polls.get(member.id)
        if not is_live(member, poll, now_s):
            absent.append(member.name)
            if poll is not None and poll.revision != member.newest:
                since.append(poll.at_s + LIVE_S)
        elif poll is None or not poll.revision:
            unnamed.append(member.name)
        elif poll.revision == member.newest:
            following.append(member.name)
            since.append(poll.since_s)
        else:
            behind.append(member.name)
    found = Barrier(tuple(following), tuple(behind), tuple(unnamed), tuple(absent))
    return replace(found, since_s=max(since)) if found.active_everywhere else found


def is_current(read_began_s: float, called_s: float) -> bool:
    """Return whether a reading of the meshes may answer a call (monotonic times of one process, s).

    Only one that began after the call may. Then plans reach an agent in order, from any process: it has one poll in
    flight, so its next call, and the reading for it, begin after the answer before.
    """
    return read_began_s >= called_s
