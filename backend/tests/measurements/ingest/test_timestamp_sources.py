"""The origin of a window's timestamps: stored with the window, shown with its path, refused when it is none."""

from pathlib import Path

import pytest
from google.protobuf import json_format

from sinemora.kit.db import tenant_session
from sinemora.measurements.ingest.agent_pb2 import Report
from tests.api_clients import MeshWorld
from tests.measurements.reports import report_of, send, sent
from tests.measurements.worlds import simple

GOLDEN = Path(__file__).parents[4] / "agent/wire/golden"


@pytest.fixture
def mesh(owner, make_mesh) -> MeshWorld:
    return make_mesh(owner, 2)


def report_with(mesh: MeshWorld, source: int):
    report = report_of(mesh.key, {mesh.agents[1].vm_key: simple(50_000)})
    report.windows[0].timestamp_source = source
    return report


def shown(mesh: MeshWorld, source: int, target: int) -> str | None:
    ends = mesh.agents[source].vm_id, mesh.agents[target].vm_id
    answer = mesh.owner.get(f"/v1/meshes/{mesh.id}/paths/{ends[0]}/{ends[1]}")
    assert answer.status_code == 200, answer.text
    return answer.json()["timestamp_source"]


@pytest.mark.parametrize(
    ("code", "stored", "name"), [(0, None, None), (1, 1, "user"), (2, 2, "kernel"), (3, 3, "hardware")]
)
def test_the_origin_is_stored_with_the_window_and_shown_from_both_ends(mesh, code, stored, name):
    sent(mesh.agents[0], report_with(mesh, code))
    with tenant_session(mesh.owner.tenant_id) as session:
        assert session.connection().exec_driver_sql("SELECT timestamp_source FROM probe_frames").scalar() == stored
    assert shown(mesh, 0, 1) == name
    assert shown(mesh, 1, 0) == name


def test_a_path_without_windows_has_no_origin(mesh):
    assert shown(mesh, 0, 1) is None


def test_an_unknown_origin_is_refused_with_the_place(mesh):
    answer = send(mesh.agents[0], report_with(mesh, 4))
    assert answer.status_code == 422
    assert "windows[0].timestamp_source" in answer.text
    assert "3 (hardware), not 4" in answer.text


def test_the_golden_file_holds_the_origins_of_two_windows():
    report = Report.FromString((GOLDEN / "timestamp_source.bin").read_bytes())
    assert json_format.Parse((GOLDEN / "timestamp_source.json").read_text(), Report()) == report
    assert [window.timestamp_source for window in report.windows] == [2, 3]
