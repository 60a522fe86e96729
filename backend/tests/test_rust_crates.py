"""What the Rust crates agree on: who links whom."""

import tomllib
from pathlib import Path

AGENT = Path(__file__).parents[2] / "agent"


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
