"""Simulations that the server runs: started, followed and cancelled as a job."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from sinemora.jobs import executor
from sinemora.labs.simulation.core import series
from sinemora.labs.simulation.core.simulate import simulate
from sinemora.labs.simulation.core.state import SimulationState
from sinemora.labs.simulation.core.workload import Workload
from sinemora.labs.simulation.job import world_of
from sinemora.labs.simulation.provenance import code_digest
from sinemora.labs.simulation.schemas import SimulationRun
from tests.api_clients import Member
from tests.jobs.asking import cancel, found, ran
from tests.waits import until

SMALL = {"name": "Small", "machines": 96, "hours": 0.2, "policies": ["random", "best"]}


def start(owner: Member, **changes: object) -> UUID:
    response = owner.post("/v1/simulations/runs", json=SMALL | changes)
    assert response.status_code == 202
    assert response.headers["Location"] == f"/v1/jobs/{response.json()['id']}"
    return UUID(response.json()["id"])


def report_of(owner: Member, **changes: object) -> dict[str, Any]:
    """Run a simulation as a job, and return its report."""
    job_id = start(owner, **changes)
    job = ran(owner, job_id)
    assert (job["state"], job["progress"]) == ("succeeded", 1.0), job["problem"]
    report: dict[str, Any] = owner.get(f"/v1/simulations/{job['result']['simulation_id']}").json()
    return report


def test_a_run_becomes_a_report(owner: Member):
    changes = {"seed": 3, "rack_size": 24, "mix": {"dns": 3, "spark-glm": 1}, "roots": 2}
    report = report_of(owner, **changes)
    assert report["name"] == "Small"
    assert report["world"]["mix"] == {"dns": 0.75, "spark-glm": 0.25}
    assert (report["world"]["rack_size"], report["world"]["roots"], report["world"]["trace"]) == (24, 2, None)
    assert report["world"]["code"] == code_digest()
    # The same as a run in this process, which knows nothing of jobs.
    run = SimulationRun.model_validate(SMALL | changes)
    world = world_of(run)
    rngs = [np.random.default_rng(3) for _ in range(2)]
    drawn = series.drawn(series.PUBLISHED, rngs[0], world.covered_s, 7_200).round_trips()
    jobs = Workload.drawn(96, world.slots, world.seconds, rngs[1], world.mix)
    areas = [simulate(world, policy, jobs, drawn).area for policy in run.policies]
    assert [policy["area_percent"] for policy in report["policies"]] == pytest.approx(areas, abs=1e-3)


def test_equal_inputs_have_one_digest_and_others_another(owner: Member):
    digests = [report_of(owner, policies=["random"], seed=seed)["world"]["inputs"] for seed in (1, 1, 2)]
    assert digests[0] == digests[1] != digests[2]


def test_a_cancelled_run_leaves_no_report(owner: Member, monkeypatch: pytest.MonkeyPatch):
    job_id = start(owner)

    def endless(*_: object, after_step: Callable[[SimulationState], None]) -> None:
        after_step(SimulationState.new(1, 1))
        time.sleep(3600)

    monkeypatch.setattr("sinemora.labs.simulation.job.simulate", endless)
    worker = threading.Thread(target=executor.run, args=(owner.tenant_id, job_id), daemon=True)
    worker.start()
    until(lambda: found(owner, job_id)["note"].startswith("random: step"), "the note of the job")
    cancel(owner, job_id, worker)
    assert found(owner, job_id)["state"] == "cancelled"
    assert owner.get("/v1/simulations").json()["items"] == []


@pytest.mark.parametrize(
    ("changes", "pointer", "message"),
    [
        ({"policies": ["random", "random"]}, "#/policies", "once"),
        ({"mix": {"nginx": 1}}, "#/mix/nginx", "memcached-server"),
        ({"mix": {"dns": 0}}, "#/mix", "above 0"),
        ({"step_s": 600, "round_s": 60}, "#", "round_s"),
    ],
)
def test_invalid_runs_are_refused(owner: Member, changes: dict[str, object], pointer: str, message: str):
    response = owner.post("/v1/simulations/runs", json=SMALL | changes)
    assert response.status_code == (404 if response.json()["code"] == "curve_unknown" else 422)
    (error,) = response.json()["errors"]
    assert error["pointer"].startswith(pointer)
    assert message in error["message"]


CSV = "rtt_us,performance\n0,1.0\n50,0.9\n100,0.8\n200,0.6\n400,0.3\n"


def test_an_own_curve_is_simulated_and_unknown_to_others(owner: Member, other_owner: Member):
    curve = owner.created("/v1/curves", {"name": "Shop", "csv": CSV})
    for key in (curve["id"], "Shop"):
        answer = other_owner.post("/v1/simulations/runs", json=SMALL | {"mix": {key: 1}})
        assert (answer.status_code, answer.json()["code"]) == (404, "curve_unknown")
        assert start(owner, policies=["random"], mix={key: 1})
    report = report_of(owner, policies=["random"], mix={"Shop": 1, "dns": 3})
    assert report["world"]["mix"] == {"Shop": 0.25, "dns": 0.75}
    points = report["world"]["own_curves"]["Shop"]
    assert points[0] == [0, pytest.approx(1, abs=0.05)]
    assert points[-1][1] < 0.4


def test_the_command_fits_a_file_of_samples(tmp_path: Path, run):
    (tmp_path / "shop.csv").write_text(CSV)
    size = ["simulate", "--machines", "48", "--hours", "0.1", "--policy", "random"]
    run(*size, "--mix", f"{tmp_path / 'shop.csv'}=1", "--report", str(tmp_path / "out"))
    world = json.loads((tmp_path / "out" / "simulation.json").read_text())["world"]
    assert world["mix"] == {"shop": 1.0}
    assert len(world["own_curves"]["shop"]) == 200
    (tmp_path / "bad.csv").write_text("rtt_us,performance\n0,x\n")
    run(*size, "--mix", f"{tmp_path / 'bad.csv'}=1", code=2)
