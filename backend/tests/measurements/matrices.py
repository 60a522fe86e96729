"""Matrices as dictionaries, and ranges of time as parameters."""

from datetime import UTC, datetime
from typing import Any

from tests.api_clients import MeshWorld, body_of


def iso(at_s: float) -> str:
    """Return a Unix time as a parameter has it."""
    return datetime.fromtimestamp(at_s, UTC).isoformat()


def iso_z(at_s: float) -> str:
    """Return a Unix time as answers have it."""
    return iso(at_s).replace("+00:00", "Z")


def span(start_s: float, end_s: float) -> dict[str, str]:
    """Return the parameters of a range of Unix times."""
    return {"from": iso(start_s), "to": iso(end_s)}


def cells(mesh: MeshWorld, **params: Any) -> dict[tuple[str, str], Any]:
    """Return the values of a matrix by the names of source and target, where it has any."""
    body = body_of(mesh.owner.get(f"/v1/meshes/{mesh.id}/matrix", params=params))
    names = [axis["name"] for axis in body["axis"]]
    return {
        (source, target): value
        for source, row in zip(names, body["values"], strict=True)
        for target, value in zip(names, row, strict=True)
        if value is not None
    }
