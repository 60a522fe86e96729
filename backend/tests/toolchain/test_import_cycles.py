"""Import cycles of Python, TypeScript and Rust are refused; in Rust among siblings."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the check in a repository with nothing but `folder` and an empty backend."""
    write(folder, {"backend/sinemora/__init__.py": ""})
    command = [sys.executable, str(ROOT / "infra" / "test" / "import_cycles.py"), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, source in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(source)
    return folder


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
    ],
    ids=["two files", "three files, grouped and inline", "two folders", "by a re-export of the parent"],
)
def test_a_cycle_is_refused_and_named(tmp_path: Path, files: dict[str, str], cycle: str) -> None:
    write(tmp_path / "agent" / "ours" / "src", files)
    done = check(tmp_path)
    assert done.returncode == 1
    assert {f"agent/ours/src/{name}" for name in cycle.split(" → ")} <= set(done.stdout.split(": ", 1)[1].split())


@pytest.mark.parametrize(
    "files",
    [
        {"a.rs": "use crate::b::B;", "b.rs": "// use crate::a::A;\nfn f() {}"},
        {"a.rs": "use crate::b::B;", "b.rs": "#[cfg(test)]\nmod tests { use crate::a::A; }"},
        {"a.rs": "use crate::b::B;", "a_tests.rs": "", "b.rs": "fn f() {}", "b_tests.rs": "use crate::a::A;"},
        {"a/mod.rs": "use x::X;\npub struct Parent;", "a/x.rs": "use super::Parent;"},
    ],
    ids=["in a comment", "in tests of the file", "in a file of tests", "between parent and child"],
)
def test_what_is_no_cycle_of_siblings_passes(tmp_path: Path, files: dict[str, str]) -> None:
    write(tmp_path / "agent" / "ours" / "src", files)
    done = check(tmp_path)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    "files",
    [
        {"backend/sinemora/a.py": "from sinemora import b", "backend/sinemora/b.py": "def f():\n    import sinemora.a"},
        {"frontend/src/a.ts": "import { b } from '~/b/b'", "frontend/src/b/b.tsx": "export { a } from '../a'"},
    ],
    ids=["Python, one inside a function", "TypeScript"],
)
def test_a_cycle_of_python_or_typescript_is_refused_and_named(tmp_path: Path, files: dict[str, str]) -> None:
    done = check(write(tmp_path, files))
    assert done.returncode == 1
    assert done.stdout.startswith("import cycle: ")


def test_imports_of_types_alone_make_no_cycle(tmp_path: Path) -> None:
    guarded = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from sinemora import a"
    python = {"backend/sinemora/a.py": "from sinemora import b", "backend/sinemora/b.py": guarded}
    typed = {"frontend/src/a.ts": "import { b } from './b'", "frontend/src/b.ts": "import type { A } from './a'"}
    done = check(write(tmp_path, python | typed))
    assert (done.returncode, done.stdout) == (0, "")
