"""Rates of the noisy neighbour: a truncated normal distribution, each draw held for some seconds.

Source: J. A. Hasenoot, 2022, section 4.2: normal with the mean of half the link and a standard deviation of a fifth of
it, drawn again outside 0 to the link's rate, each held for 5 s; sent in blocks every 10 ms.
"""

from random import Random

MEAN_SHARE = 0.5
DEVIATION_SHARE = 0.2
HELD_S = 5.0
BLOCK_S = 0.01


def rate_of(link: float, random: Random) -> float:
    """Draw a rate for a link, in its unit."""
    while True:
        drawn = random.gauss(MEAN_SHARE * link, DEVIATION_SHARE * link)
        if 0 <= drawn <= link:
            return drawn
