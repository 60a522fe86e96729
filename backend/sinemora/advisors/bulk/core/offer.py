"""Limits of the bulk sender of a VM, and the transports of its kernel, as `sinemora-transfer` reports them."""

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

_NAMES = TypeAdapter(list[str])
_NUMBERS = ("port", "bytes_max", "rate_max_bytes_per_s", "seconds_max")


@dataclass(frozen=True, slots=True)
class Offer:
    """Limits of an order, and transports that the VM can use. `congestion_controls`: the default first."""

    port: int
    bytes_max: int
    rate_max_bytes_per_s: int
    seconds_max: int
    congestion_controls: tuple[str, ...]
    mptcp: bool
    tls: bool


def offer_of(description: dict[str, Any]) -> Offer | None:
    """Return the offer in an agent's description of itself; None without a bulk sender that is on."""
    transfer = description.get("transfer")
    # Agents of earlier versions have the bulk sender in themselves.
    said = (transfer.get("bulk") if isinstance(transfer, dict) else None) or description.get("bulk")
    if not isinstance(said, dict):
        return None
    numbers = [number for name in _NUMBERS if isinstance(number := said.get(name), int) and number > 0]
    if len(numbers) < len(_NUMBERS):
        return None
    port, size, rate, seconds = numbers
    try:
        controls = _NAMES.validate_python(said.get("congestion_controls"), strict=True)
    except ValidationError:
        return None
    return Offer(port, size, rate, seconds, tuple(controls), said.get("mptcp") is True, said.get("tls") is True)
