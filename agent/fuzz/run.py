"""Fuzz what agent and backend read from others: `run.py [--keep] [SECONDS] [TARGET …]`.

The corpus of a target is one archive, `corpus/TARGET.zip`. A run unpacks it and collects new inputs in `target/found`.
`--keep` then packs the fewest inputs, old and new, that reach everything reached so far.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CORPUS = HERE / "corpus"
SCRATCH = HERE / "target"
TARGETS = ("message", "plan", "report", "frame")
MINUTE_S = 60
_KEEP = "--keep"
_LIMITS = ["-max_len=8192", "-timeout=10", "-rss_limit_mb=1024"]
# Fixed, so that the same inputs are the same archive.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def main(arguments: list[str]) -> int:
    """Build the targets and fuzz each for SECONDS; return 1 if one failed, else 0."""
    seconds = next((int(argument) for argument in arguments if argument.isdecimal()), 10)
    targets = [argument for argument in arguments if not argument.isdecimal() and argument != _KEEP] or list(TARGETS)
    programs = build(quickly=seconds < MINUTE_S)
    failed = [target for target in targets if not fuzz(programs / f"fuzz-{target}", target, seconds)]
    if _KEEP in arguments:
        for target in targets:
            if target not in failed:
                keep(programs / f"fuzz-{target}", target)
    return 1 if failed else 0


def build(*, quickly: bool) -> Path:
    """Build the targets, the workspace's crates with coverage counters; return the folder of their programs."""
    wrapper = HERE / ("counted_quickly.sh" if quickly else "counted.sh")
    # Without what a second compilation of a changed crate would need.
    env = os.environ | {"RUSTC_WORKSPACE_WRAPPER": str(wrapper), "CARGO_INCREMENTAL": "0"}
    # The profile of the other tests: libraries are compiled already, and numbers that wrap around are found.
    command = ["cargo", "build", "--locked", "--quiet", "--package", "sinemora-fuzz"]
    subprocess.run(command, cwd=HERE, env=env, check=True)
    return HERE.parent / "target" / "debug"


def fuzz(program: Path, target: str, seconds: int) -> bool:
    """Replay the corpus of `target`, then mutate it for `seconds`; return whether nothing failed."""
    corpus, found = unpack(target), SCRATCH / "found" / target
    found.mkdir(parents=True, exist_ok=True)
    options = [f"-max_total_time={seconds}", *_LIMITS, f"-artifact_prefix={found}-"]
    done = subprocess.run([program, found, corpus, *options], check=False)
    survived = done.returncode == 0
    print(f"{target}: {'survived' if survived else 'FAILED'} {seconds} s", flush=True)
    return survived


def unpack(target: str) -> Path:
    """Unpack the corpus of `target`; return its folder, which holds these inputs alone."""
    folder = SCRATCH / "corpus" / target
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with zipfile.ZipFile(CORPUS / f"{target}.zip") as archive:
        archive.extractall(folder)
    if not any(folder.iterdir()):
        sys.exit(f"corpus/{target}.zip holds no input.\nWhat to do: git checkout -- agent/fuzz/corpus")
    return folder


def keep(program: Path, target: str) -> None:
    """Pack the fewest inputs of `target`, kept and found, that reach all they reach together."""
    merged = SCRATCH / "merged" / target
    shutil.rmtree(merged, ignore_errors=True)
    merged.mkdir(parents=True)
    sources = [SCRATCH / "corpus" / target, SCRATCH / "found" / target]
    subprocess.run([program, "-set_cover_merge=1", *_LIMITS, merged, *sources], check=True)
    with zipfile.ZipFile(CORPUS / f"{target}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(merged.iterdir()):
            archive.writestr(zipfile.ZipInfo(path.name, _EPOCH), path.read_bytes(), zipfile.ZIP_DEFLATED)
    print(f"{target}: {len(list(merged.iterdir()))} inputs kept", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
