"""Story of the demonstration: what happens to its network, and when. Pure."""

from dataclasses import dataclass

LENGTH_S = 900
"""The story starts again after this time."""


MACHINES = frozenset({"a-1", "b-1", "c-1", "b-2", "c-2"})
"""Machines that the story and its applications need."""


@dataclass(frozen=True)
class Chapter:
    """Part of the story from `at_s` on; `changes` are commands of the relay (docs/delaybox.md)."""

    at_s: int
    title: str
    text: str
    changes: tuple[str, ...] = ()
    asks_for_moves: bool = False


SETTLING = (
    "Settling",
    "The agents have just started. Alert rules hold back until their clocks and the first delays are known; then the"
    " story begins.",
)
"""Title and text shown before the first chapter."""

CHAPTERS = (
    Chapter(
        0,
        "As usual",
        "The story adds no fault now. Three applications run here; some of their tasks are far from their server.",
        ("* * add=0 loss=0",),
    ),
    Chapter(
        120,
        "Slower from zone a to zone b",
        "Packets from zone a to zone b take 400 µs longer; the way back is as usual. Expect an incident that names this"
        " direction, and less performance of checkout.",
        ("a b add=400us",),
    ),
    Chapter(
        210,
        "Slower from zone a to zone b: better placements",
        "The delay continues. A recommendation is computed: it moves the tasks of checkout closer to their server.",
        asks_for_moves=True,
    ),
    Chapter(330, "Recovered", "The delay is as before. The incident ends by itself.", ("a b add=0",)),
    Chapter(
        480,
        "Loss at c-2",
        "VM c-2 loses 15 % of its packets in both directions. Expect an incident that names this VM.",
        ("* c-2 loss=15%", "c-2 * loss=15%"),
    ),
    Chapter(660, "Recovered", "No packets are lost any more. The incident ends by itself.", ("* * loss=0",)),
)


def chapter_at(elapsed_s: float) -> tuple[int, Chapter]:
    """Return the number of the chapter that is played, counted over all repetitions, and the chapter."""
    turn, within_s = divmod(elapsed_s, LENGTH_S)
    place = max(place for place, chapter in enumerate(CHAPTERS) if chapter.at_s <= within_s)
    return int(turn) * len(CHAPTERS) + place, CHAPTERS[place]


def next_start_s(elapsed_s: float) -> float:
    """Return the time at which the next chapter starts."""
    turn, within_s = divmod(elapsed_s, LENGTH_S)
    later = [chapter.at_s for chapter in CHAPTERS if chapter.at_s > within_s]
    return turn * LENGTH_S + (min(later) if later else LENGTH_S)
