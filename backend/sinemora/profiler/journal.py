"""What a profile has done so far, on disk after every run: stop it any time, the next start goes on."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sinemora.profiler.recipes import ProfileError
from sinemora.profiler.sweep import Run

_NAME = "journal.jsonl"


class Journal:
    """The runs of one profile in its folder. Line 1 is what was asked for, each further line a run."""

    def __init__(self, folder: Path, asked: Mapping[str, Any]) -> None:
        self.runs: list[Run] = []
        self._path = folder / _NAME
        folder.mkdir(parents=True, exist_ok=True)
        # As JSON gives it back, so that the two can be compared.
        asked = json.loads(json.dumps(asked))
        if self._path.exists():
            self._resume(asked)
        else:
            self._append(asked)

    def add(self, run: Run) -> None:
        """Keep a run."""
        self._append(asdict(run))
        self.runs.append(run)

    def _resume(self, asked: Mapping[str, Any]) -> None:
        text = self._path.read_text("utf-8")
        *lines, torn = text.split("\n")
        if torn:
            # Killed while writing: that run is done again.
            self._path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        try:
            found, *runs = (json.loads(line) for line in lines)
            self.runs = [Run(**run) for run in runs]
        except (ValueError, TypeError) as error:
            raise ProfileError(f"{self._path} is no journal of a profile: {error}") from None
        if found != asked:
            differing = sorted(key for key in {*found, *asked} if found.get(key) != asked.get(key))
            raise ProfileError(
                f"{self._path} is of another profile: it differs in {', '.join(differing)}.\n"
                "What to do: give another folder with --out, or --fresh to begin again"
            )

    def _append(self, line: Mapping[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as out:
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
            out.flush()
            os.fsync(out.fileno())


def forget(folder: Path) -> None:
    """Remove the journal of a folder, if there is one."""
    (folder / _NAME).unlink(missing_ok=True)
