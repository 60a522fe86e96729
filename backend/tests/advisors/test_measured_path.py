"""Delays of pairs of VMs, as advisors read them."""

from datetime import UTC, datetime, timedelta

from sinemora.advisors.measured_path import delays_between
from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.db import tenant_session
from tests.api_clients import Member, MeshWorld
from tests.measurements.reports import report_of, sent
from tests.measurements.worlds import simple


def test_pairs_that_repeat_or_reverse_others_have_equal_delays(owner: Member, make_mesh):
    mesh: MeshWorld = make_mesh(owner, 2)
    a, b = mesh.agents
    sent(a, report_of(mesh.key, {b.vm_key: simple(40_000, 90_000)}))
    now = datetime.now(UTC)
    with tenant_session(owner.tenant_id) as session:
        state = mesh_state(session, mesh.id)
        one, other = (member.id for member in state.members)
        pairs = [(one, other), (other, one), (one, other)]
        found = delays_between(session, state, pairs, now - timedelta(minutes=2), now)
    assert found[0] == found[2] == found[1][::-1]
    assert all(item.count for item in found[0])
