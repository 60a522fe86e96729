"""Counts what callers limited to some meshes learn of others, by the walks of tests/security/test_mesh_limits.py."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

_BACKEND = Path(__file__).parents[3]


def leaks() -> tuple[int, int]:
    """Return the number of answers that differ, and of requests sent. A test that fails is a leak at least."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("SINEMORA_")}
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = ["-m", "pytest", "-q", "tests/security/test_mesh_limits.py", f"--junitxml={report}"]
        subprocess.run([sys.executable, *command], cwd=_BACKEND, env=env, stdout=sys.stderr, check=False)
        root = ElementTree.parse(report).getroot()
    counted: Counter[str] = Counter()
    for one in root.iter("property"):
        counted[str(one.get("name"))] += int(one.get("value") or 0)
    failed = sum(case.find("failure") is not None or case.find("error") is not None for case in root.iter("testcase"))
    return max(counted["leaks"], failed), counted["requests"]
