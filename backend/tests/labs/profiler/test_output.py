"""Results and request latency in the output of benchmarks; the samples of output are of real runs."""

from dataclasses import replace

import pytest

from sinemora.labs.profiler.output import latency_of, value_of
from sinemora.labs.profiler.recipes import RECIPES, ProfileError, Recipe

JSON = Recipe("own", None, ("bench",), None, "/totals/0/rate", "rate", "", (1,), 1)
MEMASLAP = """
Get Statistics (149673 events)
   Min:         5
   Max:    135419
   Avg:        22

Total Statistics (166305 events)
   Min:         5
   Max:    135420
   Avg:        23
   Geo:      9.94

Run time: 2.0s Ops: 166307 TPS: 83144 Net_rate: 25.1M/s
"""
REDIS = """"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms",\
"p99_latency_ms","max_latency_ms"
"GET","83333.34","0.512","0.100","0.487","0.901","1.503","4.007"
"""
WRK = """
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   412.55us    1.21ms  18.42ms   97.17%
  Latency Distribution
     50%  230.00us
     75%  301.00us
     90%    1.20ms
     99%    1.01s
Requests/sec:  12345.67
"""
DNSPERF = """
  Queries per second:   61234.120000

  Average Latency (s):  0.000123 (min 0.000012, max 0.010500)
  Latency StdDev (s):   0.000045
"""


@pytest.mark.parametrize(
    ("recipe", "output", "value"),
    [
        (RECIPES["memcached"], "Run time: 1.0s Ops: 19409 TPS: 19310 Net_rate: 21.0M/s", 19310),
        (RECIPES["redis"], '"test","rps","avg"\n"GET","83333.34","0.5"', 83333.34),
        (RECIPES["http"], "Requests/sec:  12345.67\nTransfer/sec: 1MB", 12345.67),
        (RECIPES["dns"], DNSPERF, 61234.12),
        (RECIPES["training"], '{"rate": 812.5}', 812.5),
        (JSON, 'noise\n{"totals": [{"rate": 17}]}\n', 17),
    ],
)
def test_the_result_is_found(recipe: Recipe, output: str, value: float):
    assert value_of(recipe, output) == value


@pytest.mark.parametrize(
    ("recipe", "output", "message"),
    [
        (RECIPES["http"], "connection refused", "matches"),
        (RECIPES["memcached"], "TPS: 0 Net_rate", "above 0"),
        (JSON, "no json", "no JSON"),
        (JSON, '{"totals": []}', "is not in the output"),
        (JSON, '{"totals": [{"rate": "fast"}]}', "not a number"),
    ],
)
def test_a_missing_result_is_an_error(recipe: Recipe, output: str, message: str):
    with pytest.raises(ProfileError, match=message):
        value_of(recipe, output)


@pytest.mark.parametrize(
    ("recipe", "output", "latency_us"),
    [
        ("memcached", MEMASLAP, {"mean": 23, "max": 135420}),
        ("redis", REDIS, {"mean": 512, "p50": 487, "p95": 901, "p99": 1503, "max": 4007}),
        ("http", WRK, {"p50": 230, "p75": 301, "p90": 1200, "p99": 1.01e6}),
        ("dns", DNSPERF, {"mean": 123, "max": 10500, "sd": 45}),
    ],
)
def test_the_request_latency_is_found(recipe: str, output: str, latency_us: dict[str, float]):
    assert latency_of(RECIPES[recipe], output) == pytest.approx(latency_us)


def test_latency_of_an_own_benchmark_has_its_unit():
    recipe = replace(JSON, latency=(("p99", "/p99"), ("mean", r"mean ([\d.]+)")), latency_unit="ms")
    assert latency_of(recipe, 'mean 1.5\n{"p99": 2}') == {"p99": 2000, "mean": 1500}
    assert latency_of(JSON, "anything") is None


@pytest.mark.parametrize(
    ("where", "message"), [("/p50", "/p50 is not in the output"), (r"p50=(\d+)", "nothing in the output matches")]
)
def test_a_missing_latency_is_an_error(where: str, message: str):
    with pytest.raises(ProfileError, match=message):
        latency_of(replace(JSON, latency=(("p50", where),)), '{"rate": 1}')
