"""Files as people have them, and what is said about those that cannot be read."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.applications.curves.core.observations import ObservationError
from sinemora.applications.curves.core.upload import UploadedTable, parse

RATE = UploadedTable([0, 50, 100], [990e3, 925e3, 790e3])


@pytest.mark.parametrize(
    ("content", "table"),
    [
        ("added_us,rate\n0,990000\n50,925000\n100,790000\n", RATE),
        ("\ufeffAdded us;QPS\r\n0;990000,0\r\n50;925000\r\n\r\n100;790e3", RATE),
        ("# memcached, 5 clients\nrate\tadded-ns\n990000\t0\n925000\t50000\n790000\t100000", RATE),
        ('latency_ms,"rate"\n0,990000\n0.05,925000\n"0.1",790000', RATE),
        (
            "measured_us,duration_s,sd,runs\n180,50,1,5\n200,52,1.5,5\n280,60,2,3",
            UploadedTable([180, 200, 280], [50, 52, 60], "duration", "measured", [1, 1.5, 2], [5, 5, 3]),
        ),
        (
            '[{"latency_us": 0, "performance": 990000}, {"latency_us": 50, "performance": 925000.0},'
            ' {"performance": 790000, "latency_us": 100}]',
            RATE,
        ),
        (
            '{"metric": "duration", "latency": "measured", "baseline": 50,'
            ' "rows": [{"latency_us": 9, "performance": 51, "spread": 1, "repeats": 3}]}',
            UploadedTable([9], [51], "duration", "measured", [1], [3], 50),
        ),
    ],
)
def test_reads(content, table):
    assert parse(content.encode()) == table


@pytest.mark.parametrize(
    ("content", "pointer", "words"),
    [
        (b"", "", "empty"),
        (b"\xff\xfe", "", "byte 0 is not UTF-8"),
        (b"added_us,speed\n0,1", "/header", "'speed' is not known"),
        (b"added_us,rate,qps\n0,1,1", "/header", "'rate' and 'qps' mean the same"),
        (b"added_us\n0", "/header", "no column for performance; name one rate"),
        (b"rate\n1", "/header", "no column for latency_us; name one added_us"),
        (b"added_us,rate\n0,1\n# pause\n50,fast\n", "/rows/1/performance", "line 4, rate: 'fast' is not a number"),
        (b"added_us,rate\n0,1\n50\n", "/rows/1/performance", "line 3, rate: a value is missing"),
        (b"[1%s]" % (b"0" * 5000), "", "thousands of digits"),
        (b'added_us,rate\n0,"%s"' % (b"1" * 200_000), "", "cannot be read as CSV"),
        (b"[1", "", "line 1, column 3"),
        (b"[" * 100_000, "", "nested too deeply"),
        (b'{"rows": []}', "/rows", "at least 3 rows"),
        (b'{"rows": [3]}', "/rows/0", "must be an object"),
        (b'{"points": []}', "/points", "the names are metric, latency, baseline, rows"),
        (b'{"rows": [{"latency_us": 1, "perf": 2}]}', "/rows/0/perf", "the names are latency_us"),
        (b'{"rows": [{"latency_us": 1}]}', "/rows/0/performance", "missing"),
        (b'{"rows": [{"latency_us": true, "performance": 1}]}', "/rows/0/latency_us", "must be a number, not true"),
        (b'{"rows": [{"latency_us": 1, "performance": 1%s}]}' % (b"0" * 400), "/rows/0/performance", "too large"),
        (b'{"metric": "speed", "rows": [{"latency_us": 1, "performance": 1}]}', "/metric", "rate or duration"),
        (b'{"baseline": "x", "rows": [{"latency_us": 1, "performance": 1}]}', "/baseline", "must be a number"),
        (
            b'[{"latency_us": 1, "performance": 1, "spread": 1}, {"latency_us": 2, "performance": 1}]',
            "/rows/1/spread",
            "missing",
        ),
    ],
)
def test_says_what_is_wrong_and_where(content, pointer, words):
    with pytest.raises(ObservationError, match=words) as caught:
        parse(content)
    assert caught.value.pointer == pointer


@given(st.binary(max_size=200) | st.text(alphabet='added_us,rate\n0123456789.{}[]":', max_size=200).map(str.encode))
def test_nothing_but_its_own_error_comes_out(content):
    with contextlib.suppress(ObservationError):
        parse(content).samples()
