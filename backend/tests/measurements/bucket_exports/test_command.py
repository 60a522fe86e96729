"""The command `bucket-exports`, against the API over a socket."""

import json
from typing import Any

import pytest

from sinemora.cli import main
from tests.measurements.bucket_exports.conftest import Exports
from tests.terminal import listening, run_jobs_at_once

pytestmark = pytest.mark.whole_store


def test_an_export_is_tested_and_run_from_a_terminal(
    exports: Exports, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    run_jobs_at_once(monkeypatch)
    exports.created(tables=["zones_1h"])
    exports.created(name="broken", bucket="missing-bucket")
    with listening(exports.mesh.owner) as client:

        def run(*arguments: str) -> tuple[int, Any, str]:
            code = main(["bucket-exports", *arguments, "--url", client.url, "--key", client.key])
            output = capsys.readouterr()
            return code, output.out, output.err

        code, printed, _ = run("list")
        assert (code, "warehouse" in printed, "daily 01:10 UTC" in printed) == (0, True, True)
        code, printed, _ = run("test", "warehouse")
        assert (code, "and deleted it" in printed) == (0, True)
        code, _, error = run("test", "broken")
        assert (code, "the bucket does not exist" in error) == (1, True)
        code, printed, _ = run("run", "warehouse", "--json")
        assert (code, json.loads(printed)["days"]) == (0, 1)
        code, _, error = run("run", "broken")
        assert (code, "NoSuchBucket" in error) == (1, True)
        code, _, error = run("run", "nothing")
        assert (code, "Unknown bucket export: nothing" in error) == (1, True)
