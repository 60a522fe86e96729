"""Statistics of exchanges: ranks of the delays themselves, and fates that are not known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.measurements.on_demand.summary import Exchanges, summarise

DELAYS = st.lists(st.one_of(st.none(), st.integers(-(10**12), 10**12)), max_size=200)


@given(DELAYS)
def test_quantiles_are_delays_of_the_sample_in_order(delays_ns: list[int | None]):
    summary = summarise(delays_ns, [False] * len(delays_ns))
    known = sorted(delay for delay in delays_ns if delay is not None)
    assert summary.measured == len(known)
    values = (summary.min_ns, summary.p50_ns, summary.p99_ns, summary.max_ns)
    if not known:
        assert values == (None,) * 4
        return
    assert set(values) <= set(known)
    assert list(values) == sorted(values, key=lambda value: value or 0)
    assert (summary.min_ns, summary.max_ns) == (known[0], known[-1])
    assert sum(delay <= summary.p50_ns for delay in known) * 2 >= len(known)


@pytest.mark.parametrize(
    ("outbound", "inbound", "round_trip"),
    [(False, False, False), (True, None, True), (False, True, True), (None, False, None), (None, None, None)],
)
def test_a_round_trip_is_lost_with_either_packet(outbound: bool | None, inbound: bool | None, round_trip: bool | None):
    one = Exchanges([0], [0], [1], [2], [outbound], [inbound], [3], [2], [True], [None])
    assert one.round_trip_lost == [round_trip]
    assert one.turned().round_trip_lost == [round_trip]
    assert (one.turned().outbound_ns, one.turned().inbound_lost) == ([2], [outbound])
    turned = one.turned()
    assert (turned.outbound_ecn, turned.inbound_ecn) == ([2], [3])
    assert (turned.outbound_reversed, turned.inbound_reversed) == ([None], [True])
    assert Exchanges([0], [0], [None], [2], [True], [None], [None], [None], [None], [None]).round_trip_ns == [None]
