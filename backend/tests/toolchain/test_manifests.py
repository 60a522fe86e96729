"""Two versions or licenses in two manifests are refused in words."""

import shutil
import subprocess
from pathlib import Path

import manifests
import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    patterns = ("*.toml", "*/package.json", "package.json", "infra/deploy/*", "infra/docker/*")
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize(
    ("manifest", "text", "other"),
    [
        ("agent/Cargo.toml", 'version = "0.', 'version = "9.'),
        ("frontend/client/package.json", '"version": "0.', '"version": "9.'),
        ("infra/deploy/helm/sinemora/Chart.yaml", "appVersion: 0.", "appVersion: 9."),
        ("infra/deploy/kubernetes/agent.yaml", "sinemora-agent:0.", "sinemora-agent:9."),
        ("e2e/package.json", "Apache-2.0", "MIT"),
        ("agent/wire/Cargo.toml", "license.workspace = true\n", ""),
        ("infra/docker/agent.Dockerfile", "LABEL", "# LABEL"),
    ],
)
def test_a_manifest_that_differs_is_named(copy: Path, manifest: str, text: str, other: str) -> None:
    assert manifests.faults(copy) == []
    path = copy / manifest
    before = path.read_text("utf-8")
    assert text in before
    path.write_text(before.replace(text, other, 1), "utf-8")
    [fault] = manifests.faults(copy)
    assert fault.startswith(manifest)
    assert "but backend/pyproject.toml has" in fault
    assert "What to do" in fault
