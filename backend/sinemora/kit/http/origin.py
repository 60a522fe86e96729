"""Address that the present request came from, for records deep below the route."""

from contextvars import ContextVar

_address: ContextVar[str | None] = ContextVar("address", default=None)


def set_origin(address: str | None) -> None:
    """Set the address of the request that begins."""
    _address.set(address)


def origin() -> str | None:
    """Return the address of the present request; None outside of requests."""
    return _address.get()
