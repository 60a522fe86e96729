"""Import cycles among siblings of a Rust crate are refused."""

import subprocess
import sys
from pathlib import Path

import pytest

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
