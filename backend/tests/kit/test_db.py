"""Tests of tenancy in ORM statements, raw SQL and references; a session without a tenant reads nothing."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select, text
from sqlalchemy.exc import IntegrityError, OperationalError, ProgrammingError
from sqlalchemy.orm import Session, aliased

from sinemora.fleet.inventory.models import Vm, Zone
from sinemora.fleet.meshes.models import MeshVm
from sinemora.kit import db
from sinemora.kit.db import SessionMaker, engine, system_session, tenant_session
from sinemora.kit.errors import ProductError, database_error
from sinemora.operations.embedded.servers.postgres import SUPERUSER
from tests.api_clients import Member, MeshWorld
from tests.conftest import Servers, forget_settings
from tests.statements import scalar
from tests.waits import until


@pytest.fixture
def worlds(owner: Member, other_owner: Member, make_mesh: Callable[..., MeshWorld]) -> tuple[MeshWorld, MeshWorld]:
    return make_mesh(owner, 3), make_mesh(other_owner, 2)


def counts(session: Session) -> list[int | None]:
    other = aliased(Vm)
    return [
        len(session.scalars(select(Vm)).all()),
        session.scalar(select(func.count()).select_from(Vm)),
        session.scalar(select(func.count(Vm.name))),
        session.scalar(select(func.count()).select_from(Vm).join(other, other.id == Vm.id)),
        session.scalar(select(func.count()).select_from(select(Vm).subquery())),
        len(session.execute(select(Vm.id).union(select(Vm.id))).all()),
    ]


@pytest.mark.whole_store
def test_orm_statements_see_one_tenant(worlds):
    mine, theirs = worlds
    with tenant_session(mine.owner.tenant_id) as session:
        assert counts(session) == [3] * 6
        assert session.get(Vm, theirs.agents[0].vm_id) is None
        session.execute(Vm.__table__.update().values(name=Vm.name))
    with tenant_session(theirs.owner.tenant_id) as session:
        assert counts(session) == [2] * 6
    with system_session() as session:
        assert counts(session) == [5] * 6


def test_raw_sql_cannot_write_into_another_tenant(worlds):
    mine, theirs = worlds
    zone = (
        "INSERT INTO zones (id, tenant_id, provider, region, name, version)"
        " VALUES (gen_random_uuid(), :other, 'p', 'r', 'n', 1)"
    )
    with pytest.raises(ProgrammingError, match="row-level security"), tenant_session(mine.owner.tenant_id) as session:
        session.execute(text(zone), {"other": theirs.owner.tenant_id})


def test_a_connection_told_nothing_sees_nothing(worlds):
    with engine().connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM vms")) == 0
        assert connection.scalar(text("SELECT count(*) FROM tenants")) == 0


def test_a_role_that_row_level_security_does_not_bind_is_refused(servers, monkeypatch):
    monkeypatch.setenv("SINEMORA_DATABASE_URL", servers.postgres.dsn(SUPERUSER))
    forget_settings()
    try:
        with pytest.raises(ProductError, match="role refused: postgres of") as refused, engine().connect():
            pass
        assert refused.value.code == "database_role_unconfined"
    finally:
        monkeypatch.undo()
        forget_settings()


def test_a_connection_of_some_age_is_replaced(database: Engine, monkeypatch):
    def server_process() -> int | None:
        return scalar("SELECT pg_backend_pid()")

    assert db.RECYCLED_S <= 3600
    forget_settings()
    young = server_process()
    assert server_process() == young
    later_s = time.time() + db.RECYCLED_S
    monkeypatch.setattr(time, "time", lambda: later_s)
    assert server_process() != young


def test_settings_end_with_the_transaction(worlds):
    with tenant_session(worlds[0].owner.tenant_id) as session:
        session.scalar(text("SELECT 1"))
    with engine().connect() as connection:  # most likely the same pooled connection
        assert connection.scalar(text("SELECT current_setting('sinemora.tenant_id', true)")) in (None, "")


def test_a_reference_to_another_tenants_row_cannot_be_stored(worlds):
    mine, theirs = worlds
    with pytest.raises(IntegrityError), tenant_session(mine.owner.tenant_id) as session:
        session.add(MeshVm(mesh_id=mine.id, vm_id=theirs.agents[0].vm_id))


def test_new_rows_are_stamped_and_foreign_ones_refused(worlds):
    mine, theirs = worlds
    with tenant_session(mine.owner.tenant_id) as session:
        zone = Zone(provider="p", region="r", name="stamped")
        session.add(zone)
        session.flush()
        assert zone.tenant_id == mine.owner.tenant_id
    with pytest.raises(ValueError, match="in a session of"), tenant_session(mine.owner.tenant_id) as session:
        session.add(Zone(provider="p", region="r", name="n", tenant_id=theirs.owner.tenant_id))


def test_a_session_for_nobody_asks_nothing(database: Engine):
    with SessionMaker(bind=database) as session, pytest.raises(KeyError):
        session.scalars(select(Vm)).all()


def test_unknown_tenant_opens_no_session(database: Engine, owner: Member):
    with pytest.raises(LookupError), tenant_session(owner.user_id):
        pass


def test_the_planner_knows_how_many_rows_of_a_tenant_there_are(
    owner: Member, make_mesh: Callable[..., MeshWorld], servers: Servers
):
    make_mesh(owner, 30)
    with servers.owner_engine.begin() as connection:
        connection.execute(text("ANALYZE vms, agents"))
    with tenant_session(owner.tenant_id) as session:
        plan = session.scalar(text("EXPLAIN (FORMAT JSON) SELECT FROM vms JOIN agents ON vm_id = vms.id"))
        count = session.scalar(select(func.count()).select_from(Vm))
    assert count == 30
    # A tenth is enough: too few expected rows are joined in nested loops over both tables.
    assert plan[0]["Plan"]["Plan Rows"] > count / 10


def test_no_role_of_the_product_has_more_rights_than_a_plain_one(database: Engine):
    with database.connect() as connection:
        mighty = text(
            "SELECT rolname FROM pg_roles WHERE (rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb)"
            " AND starts_with(rolname, 'sinemora')"
        )
        assert connection.scalars(mighty).all() == []


def test_a_name_that_another_request_took_meanwhile_says_so(owner: Member):
    with tenant_session(owner.tenant_id) as session:
        session.add_all([Zone(provider="p", region="r", name="n") for _ in range(2)])
        with pytest.raises(IntegrityError) as refused:
            session.flush()
        session.rollback()
    answer = database_error(refused.value)
    assert answer is not None
    assert (answer.status, answer.code) == (409, "zone_name_taken")
    assert "another request stored the same" in answer.detail


def test_a_connection_is_trusted_until_its_server_says_something(servers: Servers):
    pid = scalar("SELECT pg_backend_pid()")
    os.kill(pid, signal.SIGSTOP)
    try:
        with db.answer_limit(0.5), db.system_engine().connect() as connection:
            assert connection.connection.driver_connection.info.backend_pid == pid
    finally:
        os.kill(pid, signal.SIGCONT)
    os.kill(pid, signal.SIGTERM)
    until(lambda: not Path(f"/proc/{pid}").exists(), "the server process ends")
    assert scalar("SELECT pg_backend_pid()") != pid


def test_a_server_process_that_hangs_is_given_up_with_those_as_old(servers: Servers):
    own = text("SELECT pg_backend_pid()")
    hung: list[int] = []

    def hang() -> None:
        with system_session() as session:
            with system_session() as idle:
                hung.extend(each.execute(own).scalar_one() for each in (session, idle))
            for pid in hung:
                os.kill(pid, signal.SIGSTOP)
            session.execute(own)

    try:
        with db.answer_limit(0.5), pytest.raises(OperationalError) as given_up:
            hang()
        assert scalar("SELECT pg_backend_pid()") not in hung
    finally:
        for pid in hung:
            os.kill(pid, signal.SIGCONT)
    refusal = database_error(given_up.value)
    assert refusal is not None
    assert refusal.code == "database_unavailable"
