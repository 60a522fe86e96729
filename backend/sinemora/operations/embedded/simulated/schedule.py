"""Schedule of simulated windows: recent ones all, older ones sampled. Pure."""

from sinemora.operations.embedded.simulated.windows import WINDOW_S

HISTORY_S = 30 * 86_400
RECENT_S = 3 * 3600
"""Every window of this time is sent. Short baselines of alert rules need 120 windows."""
_DAYS_S = 2 * 86_400
# Age up to which windows begin this far apart, newest first.
_STEPS_S = ((RECENT_S, WINDOW_S), (_DAYS_S, 900), (HISTORY_S, 3600))


def due_starts(after_s: int, now_s: float) -> list[int]:
    """Return the starts (Unix s) of windows after the one of `after_s` that have ended: all of the last three hours,
    four an hour of the last two days, one an hour of earlier ones.
    """
    end_s = int(now_s) // WINDOW_S * WINDOW_S
    starts: list[int] = []
    newer_s = end_s
    for age_s, step_s in _STEPS_S:
        oldest_s = max(end_s - age_s, after_s + 1)
        first_s = -(-oldest_s // step_s) * step_s
        starts += range(first_s, newer_s, step_s)
        newer_s = min(newer_s, first_s)
    return sorted(starts)


def recent_ends(after_s: int, newest_s: int) -> list[int]:
    """Return the ends (Unix s) of the windows of the last three hours up to the one that begins at `newest_s`, without
    those up to the one of `after_s`.
    """
    return [
        start + WINDOW_S
        for start in range(max(after_s + WINDOW_S, newest_s + WINDOW_S - RECENT_S), newest_s + 1, WINDOW_S)
    ]
