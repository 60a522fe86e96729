"""Only a folder that is ours is used, and only such a one is deleted."""

import os
from pathlib import Path

import pytest

from sinemora.kit.config import Settings
from sinemora.operations.embedded.data_folder import DataFolder, RunningError, locate
from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.servers import sockets
from sinemora.operations.embedded.servers.service_user import ServiceUser

ME = ServiceUser("me", os.geteuid(), os.getegid())


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path / "data")


def test_a_new_folder_is_private_and_marked(folder: DataFolder) -> None:
    folder.claim(ME)
    assert folder.is_ours()
    assert folder.path.stat().st_mode & 0o777 == 0o700


def test_a_folder_with_other_things_in_it_is_left_alone(folder: DataFolder) -> None:
    folder.path.mkdir()
    (folder.path / "holiday.jpg").touch()
    with pytest.raises(EmbeddedError, match="not empty"):
        folder.claim(ME)
    with pytest.raises(EmbeddedError, match="not deleted"):
        folder.delete()
    assert (folder.path / "holiday.jpg").exists()


def test_a_folder_in_use_is_not_deleted(folder: DataFolder) -> None:
    folder.claim(ME)
    with folder.held():
        with pytest.raises(RunningError):
            DataFolder(folder.path).delete()
        with pytest.raises(RunningError), DataFolder(folder.path).held():
            pass
    folder.delete()
    assert not folder.path.exists()


def test_deleting_does_not_follow_links(folder: DataFolder, tmp_path: Path) -> None:
    folder.claim(ME)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    (folder.path / "link").symlink_to(tmp_path / "precious")
    folder.delete()
    assert (tmp_path / "precious" / "file").exists()


def test_a_folder_set_by_hand_is_where_it_was_set(tmp_path: Path) -> None:
    assert locate(Settings(data_dir=tmp_path / "here"), ME) == (tmp_path / "here", "")


def test_a_socket_path_too_long_for_the_kernel_gets_a_short_one(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    short = sockets.socket_dir(deep, "valkey", "valkey.sock", ME)
    try:
        assert len(os.fsencode(short / "valkey.sock")) <= sockets.LONGEST_PATH_BYTES
        assert short.stat().st_mode & 0o777 == 0o700
        assert sockets.short_socket_dirs(deep) == [short]
        assert sockets.socket_dir(deep, "valkey", "valkey.sock", ME) == short
    finally:
        short.rmdir()


def test_a_short_socket_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    short = sockets.socket_dir(deep, "valkey", "valkey.sock", ME)
    short.rmdir()
    short.symlink_to(tmp_path)
    try:
        with pytest.raises(EmbeddedError, match="another user"):
            sockets.socket_dir(deep, "valkey", "valkey.sock", ME)
    finally:
        short.unlink()
