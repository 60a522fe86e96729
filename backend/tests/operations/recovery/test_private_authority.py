"""A storage whose certificate is of a private authority: aged objects and the archive reach it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import ValidationError

from lab.object_storage_server import ObjectStorageServer
from sinemora.kit import config
from sinemora.kit.config import Settings
from sinemora.kit.object_storage import StorageError, installation_storage, storage_of
from tests.certificates import certificate
from tests.conftest import Servers
from tests.operations.recovery.archiving import command


@pytest.fixture
def storage(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, servers: Servers
) -> Iterator[ObjectStorageServer]:
    """Yield a storage that speaks TLS, set for the product with its authority, with an archive in it."""
    folder = tmp_path_factory.mktemp("storage")
    server = ObjectStorageServer(folder, certificate(folder))
    server.start()
    more = {
        "SINEMORA_STORAGE_PREFIX": f"test-{uuid4().hex[:8]}",
        "SINEMORA_ARCHIVE": "on",
        "SINEMORA_ARCHIVE_UPLOAD_S": "1",
    }
    for name, value in {**server.settings(), **more}.items():
        monkeypatch.setenv(name, value)
    config.settings.cache_clear()
    yield server
    monkeypatch.undo()
    config.settings.cache_clear()
    server.stop()


@pytest.fixture
def distrusted(storage: ObjectStorageServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the authority out of the settings."""
    monkeypatch.delenv("SINEMORA_STORAGE_CA_FILE")
    config.settings.cache_clear()


def test_objects_are_stored_and_read(storage: ObjectStorageServer):
    client = installation_storage()
    client.put("a/b", b"content")
    assert client.get("a/b") == b"content"
    assert client.get_ranges("a/b", [(0, 3)]) == [b"con"]
    assert [one.key for one in client.list("a")] == ["a/b"]
    done = command("aged", "check")
    assert done.returncode == 0, done.stderr


def test_without_the_authority_the_error_names_the_setting(storage: ObjectStorageServer, distrusted: None):
    with pytest.raises(StorageError, match=r"certificate.*SINEMORA_STORAGE_CA_FILE"):
        installation_storage().put("a/b", b"content")


def test_a_certificate_of_another_host_is_refused(storage: ObjectStorageServer):
    place = storage.location
    other = storage_of(type(place)(place.endpoint.replace("127.0.0.1", "localhost"), *_rest(place)))
    with pytest.raises(StorageError, match="certificate"):
        other.put("a/b", b"content")


def _rest(place: Any) -> tuple[Any, ...]:
    return (place.bucket, place.region, place.access_key, place.secret_key, place.ca_file)


@pytest.mark.parametrize("content", [None, "", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n"])
def test_a_file_without_certificates_is_refused_at_the_start(tmp_path: Path, content: str | None):
    file = tmp_path / "authority.pem"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ValidationError, match="should be a PEM file"):
        Settings(_env_file=None, storage_ca_file=file)
