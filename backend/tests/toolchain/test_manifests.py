"""Checks of `infra/test`: manifests that differ, and import cycles of Rust crates, are refused in words."""

import shutil
import subprocess
import sys
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


CHECK = Path(__file__).resolve().parents[3] / "infra" / "test" / "rust_modules.py"


@pytest.mark.parametrize(
    ("files", "cycle"),
    [
        ({"a.rs": "use crate::b::B;", "b.rs": "use super::a::A;"}, "a → b → a"),
        (
            {"a.rs": "use crate::{b::{B, Other}, c};", "b.rs": "fn f() { crate::c::g() }", "c.rs": "use crate::a::A;"},
            "a",
        ),
        (
            {
                "a/mod.rs": "pub use x::X;",
                "a/x.rs": "use crate::b::y::Y;",
                "b/mod.rs": "mod y;",
                "b/y.rs": "use crate::a::X;",
            },
            "a → b → a",
        ),
        ({"a/mod.rs": "pub use x::X;", "a/x.rs": "use super::y::Y;", "a/y.rs": "use super::X;"}, "a::x → a::y → a::x"),
        ({"a.rs": "use crate::b::B;", "b.rs": "// use crate::a::A;\nfn f() {}"}, ""),
        ({"a.rs": "use crate::b::B;", "b.rs": "#[cfg(test)]\nmod tests { use crate::a::A; }"}, ""),
        ({"a.rs": "use crate::b::B;", "a_tests.rs": "", "b.rs": "fn f() {}", "b_tests.rs": "use crate::a::A;"}, ""),
        ({"a/mod.rs": "use x::X;\npub struct Parent;", "a/x.rs": "use super::Parent;"}, ""),
    ],
    ids=[
        *("two files", "three files, grouped and inline", "two folders", "by a re-export of the parent"),
        *("none: a comment", "none: tests of the file", "none: a file of tests", "none: parent and child"),
    ],
)
def test_a_cycle_is_refused_and_named(tmp_path: Path, files: dict[str, str], cycle: str) -> None:
    for name, source in files.items():
        path = tmp_path / "agent" / "ours" / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    done = subprocess.run([sys.executable, CHECK, tmp_path], capture_output=True, text=True, check=False)
    assert (done.returncode, bool(done.stdout)) == ((1, True) if cycle else (0, False))
    if cycle:
        assert {f"agent/ours/src/{name}" for name in cycle.split(" → ")} <= set(done.stdout.split(": ", 1)[1].split())
