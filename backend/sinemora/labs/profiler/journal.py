"""Journal of the runs of a profile, on disk after every run: an interrupted profile resumes from it."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sinemora.labs.profiler.recipes import ProfileError
from sinemora.labs.profiler.sweep import Run

_NAME = "journal.jsonl"


class Journal:
    """The runs of one profile in its folder. Line 1: its parameters; each further line: a run."""

    def __init__(self, folder: Path, parameters: Mapping[str, Any]) -> None:
        self.runs: list[Run] = []
        self._path = folder / _NAME
        folder.mkdir(parents=True, exist_ok=True)
        # Normalised through JSON for comparison with the file.
        parameters = json.loads(json.dumps(parameters))
        if self._path.exists():
            self._resume(parameters)
        else:
            self._append(parameters)

    def add(self, run: Run) -> None:
        """Append a run."""
        self._append(asdict(run))
        self.runs.append(run)

    def _resume(self, parameters: Mapping[str, Any]) -> None:
        text = self._path.read_text("utf-8")
        *lines, partial = text.split("\n")
        if partial:
            # Killed while writing: that run is repeated.
            self._path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        try:
            stored, *runs = (json.loads(line) for line in lines)
            self.runs = [Run(**run) for run in runs]
        except (ValueError, TypeError) as error:
            raise ProfileError(f"Invalid journal: {self._path} is not a profile's journal: {error}") from None
        if stored != parameters:
            differing = sorted(key for key in {*stored, *parameters} if stored.get(key) != parameters.get(key))
            raise ProfileError(
                f"Journal mismatch: {self._path} belongs to another profile; it differs in {', '.join(differing)}.\n"
                "What to do: choose another folder with --out, or start again with --fresh"
            )

    def _append(self, line: Mapping[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as out:
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
            out.flush()
            os.fsync(out.fileno())


def forget(folder: Path) -> None:
    """Remove the journal of a folder, if there is one."""
    (folder / _NAME).unlink(missing_ok=True)
