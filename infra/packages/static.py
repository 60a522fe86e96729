"""Build the agent as a static binary: linked with musl, it needs no library, no loader and no version of glibc.

Rust's standard library for musl is compiled here from its source (`-Z build-std`), and `zig cc` compiles and links C
with the musl and the unwinder that it ships. So nothing but packages of Debian and PyPI is needed.
"""

import struct
import subprocess
import sys
from pathlib import Path

from common import ROOT, TOOLS, environment, remembered

AGENT = ROOT / "agent"
ZIG = TOOLS / "zig"


def build(machine: str) -> Path:
    """Build the release binary for a processor and return its path; exit if it is not static."""
    cargo = Path(remembered()["cargo-with-source"])
    known = environment()
    # Messages of panics name files: by names that are the same wherever it is built.
    names = {ROOT: "sinemora", Path(known.get("CARGO_HOME", Path.home() / ".cargo")): "cargo"}
    # Start files, libc and unwinder are Zig's.
    flags = ["-C", "link-self-contained=no", *(f"--remap-path-prefix={path}={name}" for path, name in names.items())]
    env = known | {
        "PATH": f"{cargo.parent}:{ZIG / 'bin'}:{known['PATH']}",
        "RUSTC": str(cargo.parent / "rustc"),
        "CARGO_ZIGBUILD_ZIG_PATH": str(ZIG / "ziglang" / "zig"),
        # `-Z` of a released compiler: the source of the standard library is of the same version.
        "RUSTC_BOOTSTRAP": "1",
        "RUSTFLAGS": " ".join(flags),
    }
    options = ["--release", "--locked", "--bin", "sinemora-agent", "-Z", "build-std=std,panic_abort"]
    done = subprocess.run([cargo, "zigbuild", *options, "--target", target(machine)], cwd=AGENT, env=env, check=False)
    if done.returncode != 0:
        sys.exit(f"cargo zigbuild ended with {done.returncode}")
    binary = AGENT / "target" / target(machine) / "release" / "sinemora-agent"
    content = binary.read_bytes()
    if needs_a_loader(content) or b"GLIBC_" in content:
        sys.exit(f"{binary} is not static.\nWhat to do: see how it was linked: readelf --program-headers {binary}")
    return binary


def target(machine: str) -> str:
    """Return the Rust target of a processor."""
    return f"{machine}-unknown-linux-musl"


def needs_a_loader(elf: bytes) -> bool:
    """Return whether a 64-bit little-endian ELF asks for an interpreter (PT_INTERP, 3; System V ABI)."""
    (at,) = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    return any(struct.unpack_from("<I", elf, at + size * nth)[0] == 3 for nth in range(count))
