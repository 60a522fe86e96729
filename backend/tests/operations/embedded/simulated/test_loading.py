"""The simulated tenant goes through the real API into the real database, once, also after an interruption."""

import time
from collections.abc import Mapping
from pathlib import Path
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from sinemora.access.tenants.service import create_owner
from sinemora.kit.config import settings
from sinemora.operations.embedded.demo.programs import LOADED
from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.simulated import evaluation, first_screen, play, schedule, tenant
from sinemora.operations.embedded.simulated.api import Answer, send_report
from sinemora.operations.embedded.simulated.faults import FaultKind
from sinemora.operations.embedded.simulated.world import World, make_world
from tests import api_clients
from tests.statements import scalar

pytestmark = pytest.mark.whole_store
WINDOWS = 24
SPAN_S = WINDOWS * 60


class Api:
    """API of the test. `stop_after`: reports after which the caller is interrupted, as by Ctrl-C."""

    def __init__(self, http: TestClient, stop_after: int | None = None) -> None:
        self._http = http
        self._left = stop_after

    def __call__(self, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        if path.endswith("/reports") and self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise KeyboardInterrupt
        answer = self._http.post(path, content=body, headers=dict(headers))
        return Answer(answer.status_code, answer.content)


def small(seed: int) -> World:
    return make_world(seed, 8, 1)


@pytest.fixture(autouse=True)
def _short_past(http: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Load less than half an hour instead of thirty days."""
    monkeypatch.setattr(
        play, "due_starts", lambda after_s, now_s: schedule.due_starts(max(after_s, int(now_s) - SPAN_S - 60), now_s)
    )
    monkeypatch.setattr(schedule, "RECENT_S", SPAN_S)
    own = settings().model_copy(update={"owner_password": None})
    monkeypatch.setattr(tenant, "settings", lambda: own)


def load(http: TestClient, path: Path, seed: int | None = None, stop_after: int | None = None) -> play.Demo:
    return play.load(Api(http, stop_after), path, seed, world_of=small)


def let_two_windows_end_during_the_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate = evaluation.evaluate

    def slowly(session: Session, mesh_id: UUID, end_s: int) -> None:
        evaluate(session, mesh_id, end_s)
        later_s[0] = 120.0

    later_s = [0.0]
    due = schedule.due_starts
    monkeypatch.setattr(play, "due_starts", lambda after_s, now_s: due(after_s, now_s - 120 + later_s[0]))
    monkeypatch.setattr(evaluation, "evaluate", slowly)


def test_loaded_windows_are_stored_and_evaluated_also_after_an_interruption(
    http: TestClient, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "simulated.json"
    with pytest.raises(KeyboardInterrupt):
        load(http, path, stop_after=11)
    assert scalar("SELECT count(DISTINCT started_at) FROM probe_frames") < WINDOWS
    with monkeypatch.context() as slow:
        let_two_windows_end_during_the_evaluation(slow)
        demo = load(http, path)
    newest = scalar("SELECT extract(epoch FROM max(started_at))::bigint FROM probe_frames")
    assert scalar("SELECT extract(epoch FROM evaluated_until)::bigint FROM alert_states") == newest + 60
    assert newest > time.time() - 180
    password = capsys.readouterr().err.split("password ")[1].split()[0]
    owner = api_clients.sign_in(http, tenant.EMAIL, password)
    mesh = owner.get("/v1/meshes").json()["items"][0]
    assert (mesh["name"], mesh["vm_count"], mesh["window_s"]) == ("Simulated network", 8, 60)
    vms = owner.get("/v1/vms").json()["items"]
    assert {vm["labels"]["simulated"] for vm in vms} == {"true"}
    assert {vm["zone"]["provider"] for vm in vms} == {"simulated"}
    assert len(owner.get("/v1/alert-rules", params={"mesh_id": mesh["id"]}).json()["items"]) >= 5
    assert {one["name"] for one in owner.get("/v1/applications").json()["items"]} == {"checkout", "training", "lookup"}
    # The silent VM reports until twenty minutes before now; one VM may be the client of no pair.
    frames = scalar("SELECT count(*) FROM probe_frames")
    assert frames > 5 * WINDOWS
    assert scalar("SELECT count(DISTINCT started_at) FROM probe_frames") >= WINDOWS
    # The worker merges the two windows that were sent last.
    assert scalar("SELECT count(DISTINCT started_at) FROM probe_frames_1m") >= WINDOWS - 2
    matrix = owner.get(f"/v1/meshes/{mesh['id']}/worst-paths", params={"metric": "loss", "statistic": "mean"}).json()
    lost = next(fault for fault in demo.faults if fault.kind is FaultKind.LOST_PAIR)
    names = small(1).names
    assert {names[lost.sources[0]], names[lost.targets[0]]} <= {
        end["name"] for one in matrix["items"] for end in (one["source"], one["target"])
    }
    incidents = owner.get("/v1/incidents").json()["items"]
    assert incidents
    assert load(http, path).faults == demo.faults
    assert scalar("SELECT count(*) FROM agents") == 8
    by_window = "SELECT count(*) FROM probe_frames GROUP BY started_at"
    reporting = scalar(f"SELECT max(count) FROM ({by_window}) t")
    # All windows are whole: the same agents, one fewer since one of them is silent.
    assert scalar(f"SELECT count(*) FROM ({by_window}) t WHERE count < {reporting} - 1") == 0


def test_the_first_screen_is_full_until_its_mesh_is_deleted(
    http: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: play.Demo) -> None:
        raise KeyboardInterrupt

    home = tenant.first_home()
    create_owner(home.tenant, home.email, "a long enough password")
    monkeypatch.setattr(play.Demo, "send_next", interrupted)
    for _ in range(2):  # the second time it continues
        with pytest.raises(KeyboardInterrupt):
            first_screen.show(tmp_path, Api(http))
    assert (tmp_path / LOADED).exists()
    owner = api_clients.sign_in(http, home.email, "a long enough password")
    (mesh,) = owner.get("/v1/meshes").json()["items"]
    assert (mesh["name"], mesh["vm_count"]) == ("Simulated network", 18)
    applications = owner.get("/v1/applications").json()["items"]
    assert {one["name"] for one in applications} == {"simulated-checkout", "simulated-training", "simulated-lookup"}
    assert owner.get("/v1/incidents").json()["items"]
    assert [job["kind"] for job in owner.get("/v1/jobs").json()["items"]] == ["recommendations.recommend"]
    for path in (*(f"/v1/applications/{one['id']}" for one in applications), f"/v1/meshes/{mesh['id']}"):
        etag = owner.get(path).headers["ETag"]
        assert owner.delete(path, headers={"If-Match": etag}).status_code == 204
    first_screen.show(tmp_path, Api(http))
    assert owner.get("/v1/meshes").json()["items"] == []


def test_another_seed_needs_a_fresh_tenant(http: TestClient, tmp_path: Path) -> None:
    path = tmp_path / "simulated.json"
    with pytest.raises(KeyboardInterrupt):
        load(http, path, 5, stop_after=0)
    with pytest.raises(EmbeddedError, match="seed 5, not 6") as error:
        load(http, path, 6)
    assert "FRESH=1 SEED=6" in error.value.advice


def test_a_tenant_without_the_state_of_its_agents_is_not_touched(http: TestClient, tmp_path: Path) -> None:
    path = tmp_path / "simulated.json"
    with pytest.raises(KeyboardInterrupt):
        load(http, path, stop_after=0)
    path.unlink()
    with pytest.raises(EmbeddedError, match="exists") as error:
        load(http, path)
    assert "FRESH=1" in error.value.advice


def test_a_busy_api_gets_the_report_again() -> None:
    answers = [Answer(429, b"", 0), Answer(503, b"", 0), Answer(204, b"")]
    send_report(lambda *_: answers.pop(0), "sma_x", b"")
    assert answers == []


def test_a_refusal_names_its_reason() -> None:
    with pytest.raises(EmbeddedError, match="too old"):
        send_report(lambda *_: Answer(422, b'{"detail": "too old"}'), "sma_x", b"")
