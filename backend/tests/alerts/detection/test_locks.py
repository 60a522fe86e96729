"""Evaluation against changes and deletions at once: the order of locks (docs/architecture.md) holds."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from lab.benchmarks.alerting.locks import Contention
from sinemora.alerts.detection import evaluator, late_data, queries
from sinemora.alerts.detection.queries import Progress
from sinemora.alerts.rules import service as rules
from sinemora.kit.db import tenant_session
from sinemora.operations.archives import tenant as archives
from tests.api_clients import MakeMesh, Member
from tests.statements import call, execute, scalar


@pytest.mark.parametrize("deletes", ["mesh", "tenant"])
def test_a_deletion_waits_for_an_evaluation_and_not_the_other_way_round(
    owner: Member, make_mesh: MakeMesh, deletes: str
):
    world = make_mesh(owner, 3)
    call(rules.create_default_rules, world.id, tenant=owner.tenant_id)

    def delete() -> object:
        if deletes == "tenant":
            return archives.delete(str(owner.tenant_id), lambda _: None, caches_expire_s=0)
        return owner.delete(f"/v1/meshes/{world.id}", headers={"If-Match": "*"}).status_code

    with ThreadPoolExecutor(1) as pool, tenant_session(owner.tenant_id) as session:
        assert queries.claimed(session, world.id) is not None
        deletion = pool.submit(delete)
        time.sleep(1)
        assert not deletion.done()
        # As the foreign key of a new incident does.
        session.execute(text("SELECT FROM meshes WHERE id = :id FOR KEY SHARE"), {"id": world.id})
        session.commit()
        assert deletion.result() is not None
    assert scalar("SELECT count(*) FROM alert_states WHERE mesh_id = :id", {"id": world.id}) == 0


@pytest.mark.parametrize("evaluation", ["live", "late data"])
def test_a_mesh_that_is_deleted_meanwhile_is_not_evaluated(
    owner: Member, make_mesh: MakeMesh, monkeypatch: pytest.MonkeyPatch, evaluation: str
):
    world, now = make_mesh(owner, 3), datetime.now(UTC)

    def evaluate() -> object:
        with tenant_session(owner.tenant_id) as session:
            if evaluation == "live":
                return evaluator.evaluate(session, world.id, int(now.timestamp()) // 10 * 10, now)
            return late_data.evaluate_late_data(session, world.id, now)

    call(rules.create_default_rules, world.id, tenant=owner.tenant_id)
    execute("UPDATE alert_states SET evaluated_until = now() WHERE mesh_id = :id", {"id": world.id})
    progress = queries.progress

    def progress_before_deletion(session: Session, mesh_id: UUID) -> Progress | None:
        found = progress(session, mesh_id)
        assert found is not None
        assert owner.delete(f"/v1/meshes/{mesh_id}", headers={"If-Match": "*"}).status_code == 204
        return found

    monkeypatch.setattr(queries, "progress", progress_before_deletion)
    assert evaluate() is None


def test_no_two_transactions_wait_for_each_other(owner: Member, make_mesh: MakeMesh):
    worlds = [make_mesh(owner, 3, name=f"mesh {number}") for number in range(8)]

    def send(method: str, path: str, body: object) -> int:
        return owner.request(method, path, json=body, headers={"If-Match": "*"}).status_code

    contention = Contention(send, owner.tenant_id, [world.id for world in worlds], seed=1)
    assert contention.run(60) == 0
    assert contention.statuses.keys() <= {200, 204, 404, 409}
    assert contention.statuses[200] + contention.statuses[204] > 15
    left = archives.delete(str(owner.tenant_id), lambda _: None, caches_expire_s=0)
    assert not any(one.left for one in left)
