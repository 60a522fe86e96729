"""A sweep of source ports over two equal-cost paths: the ports that take the fast one are named.

The kernel sends each flow over one of them by a hash of addresses and ports (RFC 2992), as a fabric does. One path is
400 µs longer than the other, outbound only.
"""

import ports

LINKS_US = ((500, 300), (900, 300))


def test_the_ports_on_the_fast_path_are_named() -> None:
    found, on_first = ports.trial(LINKS_US, seconds=30)
    fast = {port for port, first in on_first.items() if first}
    assert len(on_first) == ports.PORTS
    assert 10 < len(fast) < ports.PORTS - 10, "the kernel spreads the flows"
    assert set(found.fast) == fast
    assert all(abs(excess_ns - 400_000) < 60_000 for port, excess_ns in found.excess_ns.items() if port not in fast)
