"""The embedded product archives its database in object storage when one is set."""

from pathlib import Path
from typing import Any

import pytest

from sinemora.kit.config import Settings
from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.servers.service_user import caller
from sinemora.operations.embedded.services import Engines, archives, environment, services

STORAGE: dict[str, Any] = {"storage_bucket": "b", "storage_access_key": "k", "storage_secret_key": "s"}
OWN = {"database_url": "postgresql://u@h/d", "redis_url": "redis://h:6379/0"}
TO_ARCHIVE = {"database_archive_url": "postgresql://archiver@h/d"}


@pytest.mark.parametrize(
    ("given", "is_on", "runs_here"),
    [
        ({}, False, False),
        (STORAGE, True, True),
        (STORAGE | {"archive": "off"}, False, False),
        (STORAGE | OWN, False, False),
        # An archiver elsewhere: watched here, run there.
        (STORAGE | OWN | {"archive": "on"}, True, False),
        (STORAGE | OWN | TO_ARCHIVE | {"archive": "on"}, True, True),
    ],
)
def test_an_archiver_runs_where_the_settings_have_storage_and_a_way_to_the_database(
    given: dict[str, Any], is_on: bool, runs_here: bool, tmp_path: Path, bare: None
) -> None:
    settings, folder, user = Settings(_env_file=None, **given), DataFolder(tmp_path), caller()
    (tmp_path / "run").mkdir()
    engines = Engines.of(settings, folder, user)
    assert archives(settings, engines) is is_on
    env = environment(settings, folder, engines)
    assert env["SINEMORA_ARCHIVE"] == ("on" if is_on else "off")
    programs = {program.name: program for program in services(settings, folder, env, user)}
    assert ("archiver" in programs) is runs_here
    assert not [name for name, program in programs.items() if name != "archiver" and "PGHOST" in program.environment]
    if runs_here:
        assert ("PGHOST" in programs["archiver"].environment) is (engines.postgres is not None)
