"""What the Rust crates agree on: the mood of their comments, and who links whom."""

import re
import tomllib
from pathlib import Path

AGENT = Path(__file__).parents[2] / "agent"
# Verbs that begin the comment of a function. Docstrings of Python have ruff's D401.
VERBS = (
    *("Add", "Append", "Ask", "Check", "Close", "Convert", "Count", "Create", "Follow", "Keep", "Move", "Open", "Read"),
    *("Receive", "Record", "Remove", "Return", "Send", "Set", "Start", "Store", "Take", "Wait", "Write"),
)
_THIRD_PERSON = re.compile(rf"^ *(/// (?:{'|'.join(VERBS)})s\b.*)\n(?: *(?:///|#\[).*\n)*.*\bfn ", re.MULTILINE)


def test_comments_of_functions_begin_in_the_imperative():
    sources = (path for path in AGENT.rglob("*.rs") if "target" not in path.relative_to(AGENT).parts)
    found = [
        f"{path.relative_to(AGENT)}: {match[1]}"
        for path in sources
        for match in _THIRD_PERSON.finditer(path.read_text())
    ]
    assert not found


def test_the_agent_links_no_loops_of_the_backend():
    packages = tomllib.loads((AGENT / "Cargo.lock").read_text())["package"]
    links = {package["name"]: [name.split()[0] for name in package.get("dependencies", ())] for package in packages}
    linked, left = set(), ["sinemora-agent"]
    while left:
        name = left.pop()
        left += [] if name in linked else links[name]
        linked.add(name)
    assert "sinemora-native" in linked
    assert not linked & {"sinemora-solver", "sinemora-tail", "pyo3"}
