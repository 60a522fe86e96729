"""Mixes of curves: a tenant's own next to the published ones."""

from collections.abc import Mapping

from sqlalchemy.orm import Session

from sinemora.applications.curves import service as curves
from sinemora.applications.curves.catalogue import outline_us
from sinemora.applications.curves.core.library import LIBRARY
from sinemora.kit.errors import NotFound, ProductError
from sinemora.labs.simulation.core.workload import Points

_PUBLISHED = {entry.key for entry in LIBRARY}


def resolve(session: Session, mix: Mapping[str, float]) -> tuple[dict[str, float], dict[str, Points]]:
    """Return a mix by keys of published curves and names of own ones, and the points of the own ones.

    ProductError `curve_unknown` (404): a key is neither.
    """
    shares: dict[str, float] = {}
    own: dict[str, Points] = {}
    for key, share in mix.items():
        name = key
        if key not in _PUBLISHED:
            try:
                entry = curves.find_own(session, key)
            except NotFound:
                raise _unknown(key) from None
            at_us = outline_us(entry.curve)
            name = entry.read().name
            own[name] = tuple(zip(at_us.tolist(), entry.curve(at_us).tolist(), strict=True))
        shares[name] = shares.get(name, 0.0) + share
    return shares, own


def _unknown(key: str) -> ProductError:
    known = ", ".join(sorted(_PUBLISHED))
    message = f"no curve {key!r}: give the id or name of one of your own, or a published one: {known}"
    return ProductError(
        "curve_unknown", 404, f"Unknown curve: {message}.", errors=[{"pointer": f"#/mix/{key}", "message": message}]
    )
