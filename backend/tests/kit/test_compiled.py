"""Compiled loops are kept for the next process, and not longer than they are true."""

import os
import subprocess
import sys
from pathlib import Path

CALLEE = """
from sinemora.compiled import compiled
@compiled
def half(x):
    return x / {by}
"""
CALLER = """
from callee import half
from constants import MORE
from sinemora.compiled import compiled
@compiled
def sum_of(x):
    return half(x) + MORE
print(sum_of(8.0), sum(sum_of.stats.cache_hits.values()))
"""


def run(folder: Path, by: int, more: int) -> tuple[float, int]:
    """What the caller makes of 8 in a process of its own, and how often it was found on disk."""
    (folder / "callee.py").write_text(CALLEE.format(by=by))
    (folder / "constants.py").write_text(f"MORE = {more}\n")
    (folder / "caller.py").write_text(CALLER)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    environment["PYTHONDONTWRITEBYTECODE"] = "1"  # Python takes a module written twice in a second for the same
    done = subprocess.run(
        [sys.executable, str(folder / "caller.py")],
        capture_output=True, text=True, timeout=300, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    value, hits = done.stdout.split()
    return float(value), int(hits)


def test_what_is_kept_follows_the_code_it_was_made_of(tmp_path: Path):
    assert run(tmp_path, 2, 1) == (5, 0)
    assert run(tmp_path, 2, 1) == (5, 1)
    assert run(tmp_path, 4, 1) == (3, 0)
    assert run(tmp_path, 4, 7) == (9, 0)
