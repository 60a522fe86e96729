"""Objects that are missing, short or changed in the storage: `sinemora verify` names them before a reader does."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lab.object_storage_server import ObjectStorageServer
from sinemora.kit import config
from sinemora.kit.object_storage import StorageError
from sinemora.measurements import tasks
from sinemora.measurements.store.aged import removal
from sinemora.operations import integrity
from tests.measurements.store.aged.conftest import AgedWorld, in_the_bucket
from tests.processes import away
from tests.statements import execute

pytestmark = pytest.mark.whole_store


def changed(path: Path) -> None:
    """Change one bit of a file."""
    content = path.read_bytes()
    path.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])


DAMAGES: list[tuple[Callable[[Path], Any], str]] = [
    (Path.unlink, "its object is missing"),
    (lambda path: path.write_bytes(path.read_bytes()[:-7]), "bytes instead of"),
    (lambda path: path.write_bytes(b""), "0 bytes instead of"),
    (changed, "does not have the checksum"),
]


def test_a_damaged_object_is_found_and_named(world: AgedWorld, storage: ObjectStorageServer, run):
    tasks.age()
    count = len(world.objects())
    assert count > 1
    findings = integrity.check()
    assert (findings.faults, findings.aged_objects) == (0, count)
    path = sorted(in_the_bucket(storage))[0]
    whole = path.read_bytes()
    for damage, words in DAMAGES:
        damage(path)
        shown = run("verify", code=1)
        assert words in shown
        assert path.name in shown
        path.write_bytes(whole)
    path.unlink()
    assert integrity.check().faults == 1
    assert integrity.check(world.end).faults == 0


def test_a_storage_that_is_away_is_one_fault_and_says_what_was_left(world: AgedWorld, storage: ObjectStorageServer):
    tasks.age()
    count = len(world.objects())
    with away(storage):
        findings = integrity.check()
    assert (findings.faults, findings.aged_objects) == (1, 0)
    assert f"{count} of {count} objects were not checked" in findings.shown[0].what


WRONG = [
    ({"SINEMORA_STORAGE_BUCKET": "no-such-bucket"}, "NoSuchBucket, the bucket does not exist"),
    ({"SINEMORA_STORAGE_ACCESS_KEY": "unknown"}, "the access key is unknown"),
    ({"SINEMORA_STORAGE_SECRET_KEY": "wrong"}, "SignatureDoesNotMatch, the secret does not belong"),
]


def test_a_wrong_storage_is_named_and_forgets_no_object(
    world: AgedWorld, storage: ObjectStorageServer, monkeypatch: pytest.MonkeyPatch, run
):
    tasks.age()
    count = len(world.objects())
    execute("UPDATE aged_objects SET state = 'removing'")
    for wrong, words in WRONG:
        with monkeypatch.context() as patched:
            for name, value in wrong.items():
                patched.setenv(name, value)
            config.settings.cache_clear()
            shown = run("aged", "check", code=1)
            assert words in shown
            assert "is missing in bucket" not in shown
            with pytest.raises(StorageError, match=words):
                removal.sweep(datetime.now(UTC))
        config.settings.cache_clear()
    assert len(world.objects("removing")) == count
    removal.sweep(datetime.now(UTC))
    assert not world.objects("removing")
    assert not in_the_bucket(storage)
