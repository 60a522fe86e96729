"""Results of benchmarks, journals and what is refused."""

from pathlib import Path

import pytest

from sinemora.profiler.journal import Journal, forget
from sinemora.profiler.recipes import RECIPES, ProfileError, Recipe, value_of
from sinemora.profiler.sweep import Run

JSON = Recipe("own", None, ("bench",), None, "/totals/0/rate", "rate", "", (1,), 1)
RUN = Run("sweep", 4, 100.0, 0, 1234.5, 101.0)


@pytest.mark.parametrize(
    ("recipe", "output", "value"),
    [
        (RECIPES["memcached"], "Run time: 1.0s Ops: 19409 TPS: 19310 Net_rate: 21.0M/s", 19310),
        (RECIPES["redis"], '"test","rps","avg"\n"GET","83333.34","0.5"', 83333.34),
        (RECIPES["http"], "Requests/sec:  12345.67\nTransfer/sec: 1MB", 12345.67),
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
        (JSON, '{"totals": [{"rate": "fast"}]}', "above 0"),
    ],
)
def test_a_missing_result_is_an_error(recipe: Recipe, output: str, message: str):
    with pytest.raises(ProfileError, match=message):
        value_of(recipe, output)


def test_a_journal_resumes_and_drops_a_partial_line(tmp_path: Path):
    Journal(tmp_path, {"recipe": "x", "loads": (1, 2)}).add(RUN)
    path = tmp_path / "journal.jsonl"
    with path.open("a") as out:
        out.write('{"phase": "sw')
    again = Journal(tmp_path, {"recipe": "x", "loads": (1, 2)})
    assert again.runs == [RUN]
    again.add(RUN)
    assert Journal(tmp_path, {"recipe": "x", "loads": (1, 2)}).runs == [RUN, RUN]


def test_runs_of_another_profile_are_not_mixed_in(tmp_path: Path):
    Journal(tmp_path, {"recipe": "x", "seed": 1})
    with pytest.raises(ProfileError, match="differs in seed"):
        Journal(tmp_path, {"recipe": "x", "seed": 2})
    forget(tmp_path)
    assert Journal(tmp_path, {"recipe": "x", "seed": 2}).runs == []
