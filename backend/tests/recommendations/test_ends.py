"""Recommendations end by themselves: with the incident they are for, with a newer one, or with their time."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from sinemora.alerts.models import Incident, IncidentState
from sinemora.kit.db import tenant_session
from sinemora.recommendations import service, tasks
from sinemora.recommendations.schemas import RecommendationRequest
from tests.api_clients import MeshWorld
from tests.recommendations.asking import NEAR, PATH, asked, declared, declared_near
from tests.recommendations.measured_mesh import measured
from tests.statements import execute

TITLE = "zone a to zone b: delay increased"


def incident_of(mesh: MeshWorld, minutes: float = 9, **columns) -> UUID:
    """Store an incident of a mesh with its onset so long ago."""
    onset = datetime.now(UTC) - timedelta(minutes=minutes)
    times = dict.fromkeys(("onset_at", "first_onset_at", "opened_at", "seen_at"), onset)
    culprit = {"suspect": "zone_pair", "at": None, "other": None, "words": "zone a to zone b"}
    nothing = {"evidence": {}, "paths": b"", "rules": [], "applications": [], "score": 1.0}
    named = {"title": TITLE, "severity": "warning", "suspect": "zone_pair", "culprit": culprit}
    with tenant_session(mesh.owner.tenant_id) as session:
        row = Incident(id=uuid4(), mesh_id=mesh.id, state=IncidentState.open, **(nothing | named | times | columns))
        session.add(row)
        return row.id


def ended(mesh: MeshWorld, incident_id: UUID) -> None:
    """End an incident, as evaluation does."""
    execute("UPDATE incidents SET ended_at = now() WHERE id = :id", {"id": incident_id})


def deleted(mesh: MeshWorld, incident_id: UUID) -> None:
    """Delete an incident, as retention does."""
    execute("DELETE FROM incidents WHERE id = :id", {"id": incident_id})


def read(mesh: MeshWorld, recommendation: dict) -> dict:
    return mesh.owner.get(f"{PATH}/{recommendation['id']}").json()


@pytest.mark.whole_store
@pytest.mark.parametrize(("over", "words"), [(ended, f"The incident “{TITLE}” ended at"), (deleted, "was deleted")])
def test_moves_for_an_incident_use_the_time_since_its_onset_and_end_with_it(mesh: MeshWorld, worker, over, words):
    declared(mesh)
    measured(mesh, NEAR, windows=20)
    incident_id = incident_of(mesh)
    recommendation = asked(mesh, worker, incident_id=str(incident_id))
    assert recommendation["request"]["minutes"] == 10
    assert recommendation["steps"]
    assert recommendation["incident"]["title"] == TITLE
    since = datetime.fromisoformat(recommendation["result"]["evidence"]["window"]["from"])
    assert since >= datetime.fromisoformat(recommendation["incident"]["onset_at"])
    etag = mesh.owner.get(f"{PATH}/{recommendation['id']}").headers["ETag"]
    over(mesh, incident_id)
    tasks.follow()
    withdrawn = read(mesh, recommendation)
    assert withdrawn["state"] == "withdrawn"
    assert words in withdrawn["reason"]
    # The version that was read is an old one, but the reason is more useful than that.
    answer = mesh.owner.post(f"{PATH}/{recommendation['id']}/apply", headers={"If-Match": etag})
    assert (answer.status_code, answer.json()["code"]) == (409, "recommendation_over")
    assert words in answer.json()["detail"]


def test_an_onset_just_now_promises_nothing(mesh: MeshWorld, worker):
    declared_near(mesh)
    recommendation = asked(mesh, worker, incident_id=str(incident_of(mesh, minutes=4)))
    assert recommendation["steps"] == []
    assert "more windows are needed" in recommendation["result"]["evidence"]["shortage"]


def test_an_incident_that_ends_while_its_search_runs_withdraws_the_moves(mesh: MeshWorld, worker, monkeypatch):
    declared(mesh)
    measured(mesh, NEAR, windows=20)
    incident_id = incident_of(mesh)
    solve = service.optimize.solve

    def slowly(*args):
        ended(mesh, incident_id)
        return solve(*args)

    monkeypatch.setattr(service.optimize, "solve", slowly)
    assert asked(mesh, worker, incident_id=str(incident_id))["state"] == "withdrawn"


def test_a_newer_one_for_the_same_applications_supersedes(mesh: MeshWorld, worker):
    declared(mesh)
    declared(mesh, "other", ("a-2", "b-2"))
    measured(mesh, NEAR)
    first, of_other = asked(mesh, worker, applications=["cache"]), asked(mesh, worker, applications=["other"])
    by_network = asked(mesh, worker, applications=["cache"], policy="nomora")
    request = RecommendationRequest(applications=[first["steps"][0]["application"]["id"]])

    def search(_: int) -> UUID:
        with tenant_session(mesh.owner.tenant_id) as session:
            return service.recommend(session, mesh.id, request, "asked", "two at once").id

    with ThreadPoolExecutor(2) as both:
        found = list(both.map(search, range(2)))
    newer = [mesh.owner.get(f"{PATH}/{identity}").json() for identity in found]
    assert sorted(one["state"] for one in newer) == ["proposed", "superseded"]
    states = [read(mesh, one)["state"] for one in (first, of_other, by_network)]
    assert states == ["superseded", "proposed", "proposed"]


def test_moves_expire_a_day_after_they_were_found(mesh: MeshWorld, worker):
    declared_near(mesh)
    recommendation = asked(mesh, worker)
    until = datetime.fromisoformat(recommendation["expires_at"])
    assert until - datetime.fromisoformat(recommendation["created_at"]) > timedelta(hours=23)
    execute("UPDATE recommendations SET expires_at = now() WHERE id = :id", {"id": recommendation["id"]})
    answer = mesh.owner.post(f"{PATH}/{recommendation['id']}/apply")
    assert answer.json()["detail"].startswith("Expired: The moves could be applied until"), answer.text
    tasks.follow()
    assert read(mesh, recommendation)["state"] == "expired"


def test_an_incident_that_is_over_or_elsewhere_is_refused(mesh: MeshWorld):
    incident_id = incident_of(mesh)
    ended(mesh, incident_id)
    for identity, code in ((incident_id, "incident_ended"), (uuid4(), "incident_unknown")):
        answer = mesh.owner.post(PATH, json={"mesh": mesh.name, "incident_id": str(identity)})
        assert answer.json()["code"] == code
