"""Brings Debian packages into `.tools/debian` without root: apt-get resolves and downloads, dpkg-deb unpacks.

apt-get gets folders of its own for package lists and downloads, and reads the machine's dpkg status, so that only what
the machine lacks is fetched. Programs start through scripts in `.tools/bin`, which lead them to their libraries.
"""

import os
import re
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from common import BIN, TOOLS, StepFailedError
from steps import Log

TREE = TOOLS / "debian"
BROUGHT = TREE / "packages"
_APT = TOOLS / "apt"
_FETCH = "/usr/lib/apt/apt-helper"
_COMPILERS = {"gcc": "cc", "g++": "c++"}
# The C library and the loader belong together and to the machine: a second copy would be mixed with the first.
_LEFT_OUT = {"libc6", "libc-bin", "base-files"}
_PROGRAM = re.compile(r"^-\S*x\S* .* \./((?:usr/)?s?bin/[^/ ]+)$|^l.* \./((?:usr/)?s?bin/[^/ ]+) -> ", re.MULTILINE)


def bring(packages: list[str], log: Log) -> None:
    """Download `packages` and what they depend on, unpack all of it and write the scripts that start the programs."""
    advice = f"check that this machine reaches its package sources; or, as root: apt-get install {' '.join(packages)}"
    for folder in (_APT / "state" / "lists" / "partial", _APT / "cache" / "archives" / "partial", TREE, BIN):
        folder.mkdir(parents=True, exist_ok=True)
    options = [
        *("-o", f"Dir::State={_APT / 'state'}", "-o", "Dir::State::status=/var/lib/dpkg/status"),
        *("-o", f"Dir::Cache={_APT / 'cache'}", "-o", "Debug::NoLocking=true", "--quiet"),
    ]
    log.run(["apt-get", *options, "update"], advice)
    command = ["apt-get", *options, "install", "--yes", "--no-install-recommends", "--download-only"]
    log.run([*command, *packages], advice)
    archives = {path.name.split("_")[0]: path for path in sorted((_APT / "cache" / "archives").glob("*.deb"))}
    for name, archive in archives.items():
        if name not in _LEFT_OUT:
            log.run(["dpkg-deb", "--extract", archive, TREE], f"delete {TOOLS / 'debian'} and {_APT}, then again")
    _lead_into_tree()
    for name in packages:
        if name in archives:
            for program in _programs(archives[name]):
                _write_script(program)
    known = set(BROUGHT.read_text("utf-8").split()) if BROUGHT.exists() else set()
    BROUGHT.write_text("\n".join(sorted(known | archives.keys())) + "\n", "utf-8")
    for archive in archives.values():
        archive.unlink()


def bring_one(path: str, sha256: str, tree: Path, log: Log) -> None:
    """Download one package by its path in Debian's archive, from the machine's sources, and unpack it into `tree`."""
    listing = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    listed = subprocess.run(listing, capture_output=True, text=True, check=True).stdout.split()
    *others, last = sorted(set(listed))
    advice = "check that this machine reaches its package sources, then again"
    archive = TOOLS / Path(path).name

    def fetch(source: str) -> None:
        log.run([_FETCH, "download-file", source + path, archive, f"SHA256:{sha256}"], advice)

    for source in others:  # that of security updates has not all packages
        with suppress(StepFailedError):
            fetch(source)
            break
    else:
        fetch(last)
    new = tree.with_name(f".{tree.name}")
    new.mkdir(parents=True, exist_ok=True)
    log.run(["dpkg-deb", "--extract", archive, new], f"delete {new}, then again")
    new.rename(tree)
    archive.unlink()


def _programs(archive: Path) -> list[Path]:
    listing = subprocess.run(["dpkg-deb", "--contents", archive], capture_output=True, text=True, check=True).stdout
    return [TREE / (match[1] or match[2]) for match in _PROGRAM.finditer(listing)]


def _lead_into_tree() -> None:
    """Turn absolute links and the linker's scripts to the files of the tree, where they are in the tree."""
    for folder, names, files in os.walk(TREE):
        for name in (*names, *files):
            path = Path(folder, name)
            if path.is_symlink() and (target := os.readlink(path)).startswith("/"):
                inside = TREE / target[1:]
                if not target.startswith(str(TREE)) and (inside.exists() or inside.is_symlink()):
                    path.unlink()
                    path.symlink_to(inside)
            elif name.endswith(".so") and path.is_file() and path.stat().st_size < 4096:
                text = path.read_bytes().decode(errors="replace")
                if "GROUP" in text:
                    path.write_text(
                        re.sub(r"(?<=[ (])(/usr/\S+?\.a)(?=[ )])", lambda m: f'"{TREE}{m[1]}"', text), "utf-8"
                    )


def _libraries() -> list[Path]:
    found = [folder for part in ("lib", "usr/lib") for folder in sorted((TREE / part).glob("*-linux-gnu*"))]
    return found + [folder / name for folder in found for name in ("pulseaudio", "systemd") if (folder / name).is_dir()]


def _write_script(program: Path) -> None:
    """Write the script in `.tools/bin` that starts `program` of the tree."""
    flags: list[str] = []
    # Debian's sh drops environment variables such as CARGO_BIN_EXE_sinemora-agent, whose names are none of a shell's.
    lines = ["#!/bin/bash"]
    libraries = ":".join(map(str, _libraries()))
    lines.append(f"export LD_LIBRARY_PATH={shlex.quote(libraries)}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}")
    compiler = re.sub(r"-\d+$", "", program.name.removeprefix("x86_64-linux-gnu-").removeprefix("aarch64-linux-gnu-"))
    if compiler in _COMPILERS:
        flags = _compiler_flags()
    command = [str(program)]
    if _python_script(program):
        command = [sys.executable, str(program)]
        lines.append(f"export PYTHONPATH={shlex.quote(str(TREE / 'usr/lib/python3/dist-packages'))}")
    if program.name == "chromium":
        command = [str(TREE / "usr/lib/chromium/chromium")]  # what Debian's script starts, by its absolute path
        lines.append(f"export FONTCONFIG_FILE={shlex.quote(str(_fonts()))}")
    lines.append(f'exec {shlex.join([*command, *flags])} "$@"')
    for name in (program.name, _COMPILERS.get(program.name)):
        if name:
            script = BIN / name
            new = script.with_name(f".{name}")
            new.write_text("\n".join(lines) + "\n", "utf-8")
            new.chmod(0o755)
            new.rename(script)


def _python_script(program: Path) -> bool:
    """Return True for a script of Debian's Python, whose modules are in the tree."""
    with program.open("rb") as file:
        return file.readline().startswith(b"#!/usr/bin/python3")


def _compiler_flags() -> list[str]:
    """Return the folders of headers, start files and libraries that a compiler outside `/usr` does not find."""
    flags: list[str] = []
    for folder in _libraries():
        flags += [f"-B{folder}", f"-L{folder}", f"-Wl,-rpath-link,{folder}"]
    headers = [TREE / "usr/include", *sorted((TREE / "usr/include").glob("*-linux-gnu*"))]
    return flags + [part for folder in headers for part in ("-idirafter", str(folder))]


def _fonts() -> Path:
    """Write a configuration of fontconfig that names the tree's fonts and draws them as an installed one does."""
    path = TREE / "fonts.conf"
    # The installation would choose this degree of hinting; widths of text depend on it.
    hinting = "usr/share/fontconfig/conf.avail/10-hinting-slight.conf"
    included = [root / part for root in (TREE, Path("/")) for part in (hinting, "etc/fonts/conf.d")]
    includes = "".join(f'<include ignore_missing="yes">{part}</include>' for part in included)
    folders = "".join(f"<dir>{folder}</dir>" for folder in (TREE / "usr/share/fonts", "/usr/share/fonts"))
    cache = f"<cachedir>{TREE / 'font-cache'}</cachedir>"
    head = '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">'
    path.write_text(f"{head}<fontconfig>{folders}{includes}{cache}</fontconfig>\n", "utf-8")
    return path
