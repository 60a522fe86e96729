"""The child process of each search imports no slow library: the worker has them before it forks."""

import subprocess
import sys

PROGRAM = """
import sys
import numpy as np
from lab.benchmarks.recommending.instances import instance_of
from lab.benchmarks.recommending.tenants import small
from sinemora.recommendations import explanation, service
from sinemora.recommendations.job import RECOMMEND
from sinemora.recommendations.core import binding, optimize
from sinemora.recommendations.core.options import Options
RECOMMEND.import_libraries()
before = set(sys.modules)
instance = instance_of(small(np.random.default_rng(3)))
solution = optimize.solve(instance, Options(moves_max=3, move_cost=0.0))
binding.binding_limits(instance, solution)
assert solution.groups
print(*sorted(name for name in set(sys.modules) - before if not name.startswith("lab.")))
"""


def test_a_search_imports_no_library() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
