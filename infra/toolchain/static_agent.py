"""Brings what the static agent of packages is built with: Zig, and a Rust with the source of its standard library."""

import os
from pathlib import Path

import debian
from common import BIN, TOOLS, VERSIONS, StepFailedError, remember
from steps import Log
from tools import output, rusts, said, unpack_wheels

_ZIG = TOOLS / "zig"


def rust_source(log: Log) -> str:
    """Find a Rust with the source of its standard library, else bring Debian's; other builds keep their Rust."""
    why = "The static agent needs a Rust with the source of its standard library."
    if packages := rust_source_missing():
        debian.install(packages, why, log)
    found = _rust_with_source()
    if not found:
        line = " ".join(VERSIONS["rust-source"]["debian"])
        raise StepFailedError(why, f"rustup component add rust-src, or as root: apt-get install {line}", log.path)
    remember(**{"cargo-with-source": found})
    return said(output(found.parent / "rustc", "--version"), found, None)


def rust_source_missing() -> list[str]:
    """Return the packages of a Rust and of its source where no Rust has it.

    None without root where another Rust is in use: a second one in `.tools/bin` would come before it in all builds.
    """
    packages: list[str] = VERSIONS["rust-source"]["debian"]
    first = next(rusts(), None)
    in_the_way = os.geteuid() != 0 and first is not None and first.parent != BIN
    return [] if in_the_way or _rust_with_source() else packages


def zig(log: Log) -> str:
    """Bring the pinned wheels of Zig and of cargo-zigbuild, which calls it, into `.tools/zig`."""
    pinned = {"ziglang": VERSIONS["zig"]["pinned"], "cargo-zigbuild": VERSIONS["cargo-zigbuild"]["pinned"]}
    program, calls_it = _ZIG / "ziglang" / "zig", _ZIG / "bin" / "cargo-zigbuild"
    if [output(program, "version"), output(calls_it, "--version").split(" ")[-1]] == list(pinned.values()):
        return "unchanged"
    unpack_wheels(list(pinned), _ZIG, "them by hand", log)
    for path in (program, calls_it):
        path.chmod(path.stat().st_mode | 0o111)
    return str(pinned["ziglang"])


def _rust_with_source() -> Path | None:
    for cargo in rusts():
        library = Path(output(cargo.parent / "rustc", "--print", "sysroot"), "lib/rustlib/src/rust/library")
        if (library / "Cargo.lock").exists():
            return cargo
    return None
