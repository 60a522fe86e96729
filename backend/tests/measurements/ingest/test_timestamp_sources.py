"""The origin of a window's timestamps and notes about its peers: stored with it, shown with its path."""

import json
from typing import Any

import pytest

from tests.api_clients import MeshWorld
from tests.measurements.reports import report_of, send, sent, window_starts
from tests.measurements.worlds import simple
from tests.statements import rows

pytestmark = pytest.mark.agents(2)


def report_with(mesh: MeshWorld, source: int, started_at_s: int | None = None):
    report = report_of(mesh.key, {mesh.agents[1].vm_key: simple(50_000)}, started_at_s)
    report.windows[0].timestamp_source = source
    return report


def path_of(mesh: MeshWorld, source: int, target: int) -> dict[str, Any]:
    return mesh.read(mesh.path(source, target))


def shown(mesh: MeshWorld, source: int, target: int) -> str | None:
    return path_of(mesh, source, target)["timestamp_source"]


def test_the_origin_is_stored_with_the_window_and_shown_from_both_ends(mesh):
    assert shown(mesh, 0, 1) is None
    names = (None, "user", "kernel", "hardware")
    for code, (started_at_s, name) in enumerate(zip(window_starts(range(4, 0, -1)), names, strict=True)):
        sent(mesh.agents[0], report_with(mesh, code, started_at_s))
        assert shown(mesh, 0, 1) == name
        assert shown(mesh, 1, 0) == name
    stored = rows("SELECT timestamp_source FROM probe_frames ORDER BY started_at", tenant=mesh.owner.tenant_id)
    assert stored == [(None,), (1,), (2,), (3,)]


def test_what_is_noted_about_a_peer_is_stored_shown_and_exported(owner, make_mesh):
    mesh = make_mesh(owner, 4)
    first, *peers = mesh.agents
    report = report_of(mesh.key, {peer.vm_key: simple(50_000) for peer in peers})
    window = report.windows[0]
    window.peer_marks.extend([0, 3, 0])
    window.outbound_residence_ns.extend([0, 0, 9_000])
    window.inbound_residence_ns.extend([0, 0, 1 << 31])
    sent(first, report)

    def noted(source: int, target: int) -> tuple[Any, ...]:
        path = path_of(mesh, source, target)
        times = path["outbound"]["residence_ns"], path["inbound"]["residence_ns"]
        return path["timestamp_source"], path["is_peer_unnamed"], *times

    assert noted(0, 1) == ("kernel", False, None, None)
    assert noted(0, 2) == noted(2, 0) == ("user", True, None, None)
    assert noted(0, 3) == ("kernel", False, 9_000, (1 << 31) - 1)
    assert noted(3, 0) == ("kernel", False, (1 << 31) - 1, 9_000)

    paths = [f"path:{first.vm_id}:{peer.vm_id}" for peer in peers]
    answer = mesh.owner.get(f"/v1/meshes/{mesh.id}/windows", params={"selections": paths, "format": "ndjson"})
    of_path = {row["selection"]: row for row in map(json.loads, answer.text.splitlines())}
    exported = [(of_path[path]["timestamp_source"], of_path[path]["residence_ns"]) for path in paths]
    assert exported == [("kernel", None), ("user", None), ("kernel", 9_000)]


def test_notes_for_other_than_all_peers_are_refused(mesh):
    report = report_with(mesh, 2)
    report.windows[0].peer_marks.extend([0, 2])
    answer = send(mesh.agents[0], report)
    assert (answer.status_code, "windows[0].peer_marks" in answer.text) == (422, True)


def test_an_unknown_origin_is_refused_with_the_place(mesh):
    answer = send(mesh.agents[0], report_with(mesh, 4))
    assert answer.status_code == 422
    assert "windows[0].timestamp_source" in answer.text
    assert "3 (hardware), not 4" in answer.text
