"""A backup comes back whole, elsewhere too; one that is damaged changes nothing."""

import io
import json
import tarfile
import tracemalloc
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
import zstandard

from sinemora import migrate
from sinemora.measurements import tasks
from sinemora.operations import backup
from sinemora.operations.archives import catalogue
from sinemora.operations.archives.archive import ArchiveError, Reader, Writer
from sinemora.operations.backup import RestoreError
from sinemora.operations.embedded.servers.postgres import SYSTEM_ROLE
from tests.api_clients import body_of
from tests.expiry import in_a_month
from tests.measurements.reports import report_of, sent, window_start
from tests.measurements.worlds import simple
from tests.statements import rows

pytestmark = pytest.mark.whole_store


@pytest.fixture
def world(owner, other_owner, make_mesh):
    """Two tenants with frames, minutes, spikes and a key."""
    mesh = make_mesh(owner, 3)
    for ago in (20, 14, 8):
        report = report_of(mesh.key, {peer.vm_key: simple(50_000) for peer in mesh.agents[1:]}, window_start(ago))
        evidence = report.windows[0].evidence.add(peer_key=mesh.agents[1].vm_key)
        for column in (evidence.at_ns, evidence.outbound_ns, evidence.inbound_ns):
            column.append(900_000)
        sent(mesh.agents[0], report)
    tasks.roll_up()
    owner.created("/v1/api-keys", {"name": "k", "scopes": ["read"], "expires_at": in_a_month()})
    theirs = make_mesh(other_owner, 2)
    sent(theirs.agents[0], report_of(theirs.key, {theirs.agents[1].vm_key: simple(70_000)}))
    return mesh, theirs


def taken() -> bytes:
    out = io.BytesIO()
    backup.backup(out, lambda _: None)
    return out.getvalue()


def contents() -> dict[str, list[int]]:
    with catalogue.connect() as connection, connection.transaction():
        return {
            table.name: backup.content_digest(connection, table.name, table.columns)
            for table in catalogue.tables(connection)
            if table.logged
        }


def test_a_backup_restores_every_row_and_the_product_goes_on(world):
    mesh, _ = world
    before = contents()
    assert before["probe_frames"][0] == 4
    assert before["spikes"][0] == 3
    archive = taken()
    sent(mesh.agents[1], report_of(mesh.key, {mesh.agents[2].vm_key: simple(9_000)}))  # after the snapshot: not in it
    with pytest.raises(RestoreError, match="not empty"):
        backup.restore(io.BytesIO(archive), lambda _: None)
    backup.restore(io.BytesIO(archive), lambda _: None, replace=True)
    assert contents() == before
    # Of other peers: this process remembers rosters that the restored database does not have. It should be restarted.
    sent(mesh.agents[1], report_of(mesh.key, {mesh.agents[0].vm_key: simple(9_000)}))
    assert mesh.owner.created("/v1/meshes", {"name": "after"})["key"] > mesh.key  # identities go on
    matrix = body_of(mesh.owner.get(f"/v1/meshes/{mesh.id}/matrix"))
    # Stale on a machine that takes longer to restore than windows are new.
    assert sum(state in ("measured", "stale") for row in matrix["states"] for state in row) > 0


def test_policies_and_triggers_are_as_before(world, servers):
    def guards() -> list[tuple]:
        return rows(
            "SELECT relname, relrowsecurity, relforcerowsecurity, tgname, tgenabled FROM pg_class c"
            " LEFT JOIN pg_trigger t ON tgrelid = c.oid AND NOT tgisinternal"
            " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition"
            " ORDER BY 1, 4"
        )

    before = guards()
    backup.restore(io.BytesIO(taken()), lambda _: None, replace=True)
    assert guards() == before


@pytest.mark.parametrize(
    ("version", "reason", "advice"),
    [
        ("0040_service_plans", "Schema too old", f"git checkout {migrate.LAST_WITH_EARLIER}"),
        ("9999_later", "Schema unknown", "Use the version of Sinemora that wrote it"),
    ],
)
def test_a_backup_of_another_schema_is_refused_with_what_to_do(
    world, monkeypatch: pytest.MonkeyPatch, version: str, reason: str, advice: str
):
    monkeypatch.setattr(backup, "revision", lambda _: version)
    archive = taken()
    monkeypatch.undo()
    before = contents()
    with pytest.raises(RestoreError, match=f"^{reason}: the backup has version {version}") as refused:
        backup.restore(io.BytesIO(archive), lambda _: None, replace=True)
    assert advice in str(refused.value)
    assert contents() == before


@pytest.mark.parametrize(
    ("damage", "words"),
    [("bit", "is (damaged|truncated)"), ("end", "is truncated"), ("part", "damaged"), ("digest", "differs")],
)
def test_a_damaged_backup_is_refused_in_words_and_changes_nothing(world, damage, words):
    archive = bytearray(taken())
    before = contents()
    if damage == "bit":
        at = archive.index(b"tables/probe_frames/000001.zst") + 1024
        archive[at] ^= 4
    elif damage == "end":
        del archive[len(archive) // 2 :]
    else:
        archive = bytearray(_rewritten(bytes(archive), damage))
    with pytest.raises((ArchiveError, RestoreError), match=words):
        backup.restore(io.BytesIO(bytes(archive)), lambda _: None, replace=True)
    assert contents() == before


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"tables": None}, "malformed header"),
        ({"tables": {'vms"; DROP TABLE vms; --': {"columns": ["id"], "days": None}}}, "does not fit the database"),
        ({"tables": {"probe_frames": {"columns": [], "days": ["0001-01-01", "9999-12-31"]}}}, "span 3,652,058 days"),
        ({"tables": {"probe_frames": {"columns": [], "days": ["today", "x"]}}}, "malformed header"),
        ({"tables": {}}, "malformed header"),
        ({"more": "x" * (16 << 20)}, "at most 16,777,216 are read"),
    ],
)
def test_a_hostile_header_is_refused_and_changes_nothing(world, header: dict[str, Any], words: str):
    archive, before = taken(), contents()
    with pytest.raises((ArchiveError, RestoreError), match=words):
        backup.restore(io.BytesIO(_rewritten(archive, header)), lambda _: None, replace=True)
    assert contents() == before


def test_a_part_that_grows_beyond_measure_is_read_in_pieces():
    """A "zstd bomb" takes no more memory than any part."""
    out = io.BytesIO()
    writer = Writer(out, {})
    packer = zstandard.ZstdCompressor(write_content_size=True).compressobj(size=1 << 28)
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(1 << 8)) + packer.flush()
    writer._add("tables/vms/000001.zst", packed)
    writer.finish()
    tracemalloc.start()
    sizes = [len(piece) for _, pieces in Reader(io.BytesIO(out.getvalue())).tables() for piece in pieces]
    assert (sum(sizes), max(sizes)) == (1 << 28, 1 << 20)
    assert tracemalloc.get_traced_memory()[1] < 32 << 20
    tracemalloc.stop()


def _rewritten(archive: bytes, damage: str | dict[str, Any]) -> bytes:
    """Return the archive without one table's content, with a wrong digest or with other fields of the header."""
    out = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(archive)) as old, tarfile.open(fileobj=out, mode="w") as new:
        for entry in old:
            opened = old.extractfile(entry)
            assert opened
            content = opened.read()
            if damage == "part" and entry.name == "tables/meshes/000001.zst":
                continue
            if isinstance(damage, dict) and entry.name == "header.json":
                content = json.dumps(json.loads(content) | damage).encode()
            if damage == "digest" and entry.name == "manifest.json":
                manifest = json.loads(content)
                manifest["digests"]["vms"][1] += 1
                content = json.dumps(manifest).encode()
            entry.size = len(content)
            new.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def test_a_backup_is_one_moment(world, servers):
    """A row written during a backup is in all of its tables or in none."""
    at = datetime.now(UTC)

    def write(_: str) -> None:
        with psycopg.connect(servers.postgres.dsn(SYSTEM_ROLE), autocommit=True) as connection:
            connection.execute("SELECT set_config('sinemora.tenant_id', '*', false)")
            connection.execute("INSERT INTO rollup_marks (tenant_key, mesh_key, minute) VALUES (1, 1, %s)", [at])

    before = rows("SELECT count(*) FROM rollup_marks")
    out = io.BytesIO()
    manifest = backup.backup(out, write)
    assert [(manifest["tables"]["rollup_marks"]["rows"],)] == before
    backup.restore(io.BytesIO(out.getvalue()), lambda _: None, replace=True)
    assert rows("SELECT count(*) FROM rollup_marks") == before
