"""Choice of some bad paths among many, so that every cause is among them. Pure."""

import numpy as np
import numpy.typing as npt

from sinemora.measurements.codec.llq16 import Ints

Place = tuple[int, int]
_SHARE = 0.25
"""Least share of bad paths at which a VM or a pair of zones is at fault."""


def spread(
    severity: npt.NDArray[np.float64], limit: int, zone_of: Ints | None = None, *, once: bool = False
) -> dict[Place, int]:
    """Return up to `limit` places [source][target] with a severity above 0, most severe first.

    `zone_of` is the zone of each VM. With it, one path of each cause (`_alike`) comes before the others, or without
    them (`once`); its value is the number of other bad paths with that cause. A sick VM or a slow pair of zones makes
    hundreds of paths bad, and a smaller fault elsewhere would not be listed.
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
            alike = (apart > 0) & _alike(rows, columns, zone_of, int(source), int(target))
            chosen[worst] = int(alike.sum()) - 1
            apart[alike] = 0
        values[[*chosen]] = 0
    if zone_of is None or not once:
        chosen |= dict.fromkeys(_largest(values, limit - len(chosen)), 0)
    return {(int(rows[at]), int(columns[at])): count for at, count in chosen.items()}


def _alike(rows: Ints, columns: Ints, zone_of: Ints, source: int, target: int) -> npt.NDArray[np.bool_]:
    """Return the mask of bad paths that share a VM or the pair of zones with one of them.

    If a VM is at fault, other paths between the same zones are in it only if many of them are bad too.
    """
    sick = [
        vm for vm in (source, target) if max((rows == vm).sum(), (columns == vm).sum()) >= _SHARE * (zone_of.size - 1)
    ]
    of_vms = sick or [source, target]
    shares_vm: npt.NDArray[np.bool_] = np.isin(rows, of_vms) | np.isin(columns, of_vms)
    zones, of_pair = zone_of[[source, target]], np.zeros(rows.size, np.bool_)
    for one, other in (zones, zones[::-1]):
        of_pair |= (zone_of[rows] == one) & (zone_of[columns] == other)
    paths = (zone_of == zones[0]).sum() * (zone_of == zones[1]).sum()
    if sick and (of_pair & ~shares_vm).sum() < _SHARE * paths:
        return shares_vm
    return shares_vm | of_pair


def _largest(values: npt.NDArray[np.float64], count: int) -> list[int]:
    """Return the places of the largest values above 0, largest first; of equal ones, the first come first."""
    places = np.flatnonzero(values)
    if 0 < count < places.size:
        places = places[values[places] >= np.partition(values[places], -count)[-count]]
    largest: list[int] = places[np.argsort(-values[places], kind="stable")[:count]].tolist()
    return largest
