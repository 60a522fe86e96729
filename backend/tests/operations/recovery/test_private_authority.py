"""A storage whose certificate is of a private authority: aged objects reach it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from lab.object_storage_server import ObjectStorageServer
from sinemora.kit.config import Settings
from sinemora.kit.object_storage import StorageError, installation_storage, storage_of
from tests.certificates import certificate
from tests.operations.recovery.archiving import command


@pytest.fixture
def storage(tmp_path: Path, use_storage: Callable[..., ObjectStorageServer]) -> Iterator[ObjectStorageServer]:
    """Yield a storage that speaks TLS, set for the product with its authority."""
    server = ObjectStorageServer(tmp_path, certificate(tmp_path))
    server.start()
    yield use_storage({}, server)
    server.stop()


def test_objects_are_stored_and_read(storage: ObjectStorageServer):
    client = installation_storage()
    client.put("a/b", b"content")
    assert client.get("a/b") == b"content"
    assert client.get_ranges("a/b", [(0, 3)]) == [b"con"]
    assert [one.key for one in client.list("a")] == ["a/b"]
    done = command("aged", "check")
    assert done.returncode == 0, done.stderr


def test_without_the_authority_the_error_names_the_setting(storage: ObjectStorageServer, set_to: Callable[..., None]):
    set_to(storage_ca_file=None)
    with pytest.raises(StorageError, match=r"certificate.*SINEMORA_STORAGE_CA_FILE"):
        installation_storage().put("a/b", b"content")


def test_a_certificate_of_another_host_is_refused(storage: ObjectStorageServer):
    place = storage.location
    other = replace(place, endpoint=place.endpoint.replace("127.0.0.1", "localhost"))
    with pytest.raises(StorageError, match="certificate"):
        storage_of(other).put("a/b", b"content")


@pytest.mark.parametrize("content", [None, "", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n"])
def test_a_file_without_certificates_is_refused_at_the_start(tmp_path: Path, content: str | None):
    file = tmp_path / "authority.pem"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ValidationError, match="should be a PEM file"):
        Settings(_env_file=None, storage_ca_file=file)
