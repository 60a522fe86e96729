"""Choice of some bad paths among many, so that every cause is among them. Pure."""

import numpy as np
import numpy.typing as npt

from sinemora.measurements.codec.llq16 import Ints

Place = tuple[int, int]


def spread(
    severity: npt.NDArray[np.float64], limit: int, zone_of: Ints | None = None, *, once: bool = False
) -> dict[Place, int]:
    """Return up to `limit` places [source][target] with a severity above 0, most severe first.

    With `zone_of`, the zone of each VM, paths that share no VM and no pair of zones with a worse one come first, or
    alone (`once`); each has the number of others that it stands for. A sick VM or a slow pair of zones makes hundreds
    of paths bad, and a smaller fault elsewhere would not be listed.
    """
    # Only bad paths are searched and sorted, not all of up to a million.
    rows, columns = np.nonzero(severity)
    values = severity[rows, columns]
    chosen: dict[int, int] = {}
    if zone_of is not None:
        apart = values.copy()
        while len(chosen) < limit and apart.any():
            worst = int(apart.argmax())
            source, target = rows[worst], columns[worst]
            shares_vm = np.isin(rows, (source, target)) | np.isin(columns, (source, target))
            there = (zone_of[rows] == zone_of[source]) & (zone_of[columns] == zone_of[target])
            back = (zone_of[rows] == zone_of[target]) & (zone_of[columns] == zone_of[source])
            alike = (apart > 0) & (shares_vm | there | back)
            chosen[worst] = int(alike.sum()) - 1
            apart[alike] = 0
        values[[*chosen]] = 0
    if zone_of is None or not once:
        chosen |= dict.fromkeys(_largest(values, limit - len(chosen)), 0)
    return {(int(rows[at]), int(columns[at])): count for at, count in chosen.items()}


def _largest(values: npt.NDArray[np.float64], count: int) -> list[int]:
    """Return the places of the largest values above 0, largest first; of equal ones, the first come first."""
    places = np.flatnonzero(values)
    if 0 < count < places.size:
        places = places[values[places] >= np.partition(values[places], -count)[-count]]
    largest: list[int] = places[np.argsort(-values[places], kind="stable")[:count]].tolist()
    return largest
