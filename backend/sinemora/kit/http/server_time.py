"""Time of the server in responses, by which clients bound the difference between its clock and their own."""

import time


def time_headers(arrived_ns: int) -> dict[str, str]:
    """Return headers with the server's time now and the time it held the request, both ns.

    `arrived_ns` is a time of `time.monotonic_ns`.
    """
    # The hold is read first: a pause between the two readings then makes it too short, which widens a client's bound.
    held_ns = time.monotonic_ns() - arrived_ns
    return {"Sinemora-Held-Ns": str(held_ns), "Sinemora-Time-Ns": str(time.time_ns())}
