"""Slow libraries are imported by the work that needs them, not by each process at its start."""

import subprocess
import sys

PROGRAM = """
import sys
import sinemora.operations.embedded.commands
assert not {"sqlalchemy", "fastapi", "numpy"} & set(sys.modules), "the supervisor"
import sinemora.main, sinemora.worker
assert not {"pandas", "scipy.optimize", "scipy.special", "matplotlib"} & set(sys.modules), "API and worker"
"""


def test_slow_libraries_are_not_imported_at_the_start() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
