"""`sinemora advise` against a live API."""

import json
import threading
from pathlib import Path

import pytest

from sinemora.advisors.shaping import burst
from tests.api_clients import Member
from tests.waits import until

MIX = """
load_per_s: 30
target: {response_ms: 1000, percentile: 95}
vm_types: [{name: c5.large, service_ms: 100, price_per_hour: 0.085}]
serverless: {service_ms: 120, price_per_gb_second: 0.001}
paths:
  - {label: near, outbound_us: 50, inbound_us: 50}
  - {label: far, outbound_us: 200000, inbound_us: 200000}
"""
MARKET = """
load_per_s: 15
vm_rate_per_s: 1
serverless_rate_per_s: 2
vm_cost_per_hour: 0.1
utilisation_max: 0.9
"""


@pytest.fixture
def run(online, tmp_path: Path):
    def command(*arguments: str, stdin: str | None = None, refused: bool = False) -> str:
        file = []
        if stdin is not None:
            (tmp_path / "question.yaml").write_text(stdin)
            file = [str(tmp_path / "question.yaml")]
        return online("advise", *arguments, *file, code=int(refused))

    return command


def test_prices_are_asked_for_and_imported(run, tmp_path: Path):
    mix = run("compute-mix", stdin=MIX)
    assert "c5.large" in mix
    assert "far: +" in mix
    market = run("provider-prices", stdin=MARKET)
    assert "2.2222" in market.splitlines()[1]
    assert market.splitlines()[1].endswith("equilibrium")
    assert "Sample" in run("price-lists", "import", "--sample", "--name", "Sample")
    exported = run("price-lists", "export", "Sample")
    (tmp_path / "again.csv").write_text(exported)
    run("price-lists", "import", str(tmp_path / "again.csv"))
    assert run("price-lists", "export", "again") == exported
    run("price-lists", "delete", "again")
    assert "again" not in run("price-lists", "list")


def test_fairness_and_transport(run, owner: Member, make_mesh, tmp_path: Path):
    mesh = make_mesh(owner, 2)
    assert "Index -" in run("fairness", "--mesh", mesh.name)
    (tmp_path / "table.csv").write_text("group,window,throughput\nTCP,1,5\nTCP,1,0\n")
    assert "0.5000" in run("import-fairness", str(tmp_path / "table.csv"))
    (tmp_path / "latin.csv").write_bytes("group,window,throughput\nKöln,1,5\n".encode("latin-1"))
    words = "latin.csv is not UTF-8 text at byte 25: save it as UTF-8"
    assert words in run("import-fairness", str(tmp_path / "latin.csv"), refused=True)
    assert "R2" in run("transport", stdin="{ecn: marked}")


def test_bursts_are_sent_and_judged(run, owner: Member, make_mesh, tmp_path: Path):
    ports: list[int] = []
    thread = threading.Thread(target=lambda: burst.receive("127.0.0.1", 0, once=False, ready=ports.append), daemon=True)
    thread.start()
    until(lambda: ports, "the receiver listens")
    file = tmp_path / "bursts.json"
    printed = run(
        "shaping", "127.0.0.1", "--port", str(ports[0]), "--bursts", "2", "--rest-s", "0", "--packets", "150",
        "--rate-mbit", "20", "--output", str(file),
    )  # fmt: skip
    assert "No token bucket" in printed
    lost = run("shaping", "127.0.0.1", "--port", str(ports[0]), "--output", str(tmp_path / "no" / "x"), refused=True)
    assert "cannot be written: No such file" in lost
    assert len(json.loads(file.read_text())["trains"]) == 2
    mesh = make_mesh(owner, 2)
    assert run("tails", "--mesh", mesh.name) == ""
