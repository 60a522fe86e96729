"""Build the programs of a VM as static binaries: linked with musl, they need no library, loader or version of glibc.

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
# Programs of a VM, each with a unit of its name. The first is the agent, whose unit alone is on after an installation.
PROGRAMS = ("sinemora-agent", "sinemora-transfer", "sinemora-guard")


def build(machine: str) -> Path:
    """Build the release binaries for a processor. Return the path of the agent; exit if one is not static."""
    programs = [word for program in PROGRAMS for word in ("--bin", program)]
    # Start files, libc and unwinder are Zig's.
    zigbuild(["--release", *programs, "-Z", "build-std=std,panic_abort"], target(machine), "link-self-contained=no")
    folder = AGENT / "target" / target(machine) / "release"
    for binary in (folder / program for program in PROGRAMS):
        content = binary.read_bytes()
        if needs_a_loader(content) or b"GLIBC_" in content:
            sys.exit(f"{binary} is not static.\nWhat to do: see how it was linked: readelf --program-headers {binary}")
    return folder / PROGRAMS[0]


def zigbuild(options: list[str], for_target: str, *codegen: str) -> None:
    """Build for another processor or C library with options of cargo and of code generation; exit if it fails."""
    cargo = Path(remembered()["cargo-with-source"])
    known = environment()
    # Messages of panics name files: by names that are the same wherever it is built.
    names = {ROOT: "sinemora", Path(known.get("CARGO_HOME", Path.home() / ".cargo")): "cargo"}
    flags = [
        *(f"-C{option}" for option in codegen),
        *(f"--remap-path-prefix={path}={as_}" for path, as_ in names.items()),
    ]
    env = known | {
        "PATH": f"{cargo.parent}:{ZIG / 'bin'}:{known['PATH']}",
        "RUSTC": str(cargo.parent / "rustc"),
        "CARGO_ZIGBUILD_ZIG_PATH": str(ZIG / "ziglang" / "zig"),
        # `-Z` of a released compiler: the source of the standard library is of the same version.
        "RUSTC_BOOTSTRAP": "1",
        "RUSTFLAGS": " ".join(flags),
    }
    command: list[str | Path] = [cargo, "zigbuild", "--locked", *options, "--target", for_target]
    done = subprocess.run(command, cwd=AGENT, env=env, check=False)
    if done.returncode != 0:
        sys.exit(f"cargo zigbuild ended with {done.returncode}")


def target(machine: str) -> str:
    """Return the Rust target of a processor."""
    return f"{machine}-unknown-linux-musl"


def needs_a_loader(elf: bytes) -> bool:
    """Return whether a 64-bit little-endian ELF asks for an interpreter (PT_INTERP, 3; System V ABI)."""
    (at,) = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    return any(struct.unpack_from("<I", elf, at + size * nth)[0] == 3 for nth in range(count))
