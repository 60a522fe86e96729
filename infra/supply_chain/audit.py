"""Compare every locked dependency with the published vulnerabilities: `make audit`.

Python by pip-audit (the advisories of PyPI), npm by `npm audit` (those of its registry), Rust by cargo-audit (RustSec;
RUSTSEC_DB=folder names a copy of its advisory-db where GitHub cannot be reached). A source that cannot be reached, or
that knows none of the packages, is reported as such: silence of a source is not the absence of vulnerabilities.

The result is written to docs/security.md with its date. Exit code 1 with a vulnerability, 2 when a source was silent.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from supply import CARGO_LOCKS, NPM_FOLDERS, PYTHON_LOCKS, ROOT, cargo_tool, npm, python_tool, run

PAGE = ROOT / "docs" / "security.md"
_BLOCK = re.compile(r"(<!-- audit of dependencies -->\n).*?(<!-- end of audit -->)", re.S)
_REASON_CHARACTERS = 160


@dataclass
class Audit:
    """Outcome for one lock file. `unknown` packages are not known to the source; `failure` is why it did not answer."""

    what: str
    source: str
    packages: int = 0
    unknown: int = 0
    found: list[str] = field(default_factory=list)
    failure: str = ""

    @property
    def answered(self) -> bool:
        """Return whether the source knew at least one package."""
        return not self.failure and self.packages > self.unknown

    @property
    def words(self) -> str:
        """Return the outcome in words."""
        if not self.answered:
            return f"**not audited**: {self.failure or 'the source knows none of the packages'}"
        missing = f"; {self.unknown} packages not known to the source" if self.unknown else ""
        return (", ".join(self.found) or "none known") + missing


def main() -> int:
    """Audit all lock files, print and record the result. Return the exit code."""
    audits = [*_python(), *_npm(), *_rust()]
    for audit in audits:
        print(f"{audit.what:28}{audit.packages:>6} packages  {audit.source}: {audit.words}")
    record(audits, datetime.now(UTC))
    if any(audit.found for audit in audits):
        print("Vulnerable dependencies: update them (make lock UPGRADE=1), or explain in docs/security.md why not.")
        return 1
    if silent := [audit.what for audit in audits if not audit.answered]:
        print(f"Not audited: {', '.join(silent)}. Run `make audit` where the sources can be reached.")
        return 2
    return 0


def record(audits: list[Audit], at: datetime) -> None:
    """Write the table of docs/security.md."""
    rows = [f"| {audit.what} | {audit.packages} | {audit.source} | {audit.words} |\n" for audit in audits]
    head = "| dependencies | packages | source | vulnerabilities |\n| --- | --- | --- | --- |\n"
    table = f"Last run: {at:%Y-%m-%d}.\n\n{head}{''.join(rows)}"
    text = PAGE.read_text("utf-8")
    PAGE.write_text(_BLOCK.sub(lambda block: block[1] + table + block[2], text), "utf-8")


def _python() -> Iterator[Audit]:
    for what, lock in PYTHON_LOCKS.items():
        audit = Audit(what, "PyPI advisories (pip-audit)")
        options = [
            "--no-deps",
            "--disable-pip",
            "--format=json",
            "--progress-spinner=off",
            "--vulnerability-service=pypi",
        ]
        done = run([python_tool("pip-audit"), *options, "--requirement", lock])
        yield of_pip_audit(audit, done.stdout, done.stderr)


def of_pip_audit(audit: Audit, printed: str, said: str) -> Audit:
    """Add what pip-audit printed. A package that the source does not know has no list of vulnerabilities."""
    try:
        dependencies = json.loads(printed)["dependencies"]
    except (ValueError, KeyError):
        audit.failure = _reason(said)
        return audit
    audit.packages = len(dependencies)
    audit.unknown = sum("skip_reason" in entry for entry in dependencies)
    audit.found = [
        f"{entry['name']} {entry['version']}: {vulnerability['id']}"
        for entry in dependencies
        for vulnerability in entry.get("vulns", [])
    ]
    return audit


def _npm() -> Iterator[Audit]:
    for what, folder in NPM_FOLDERS.items():
        audit = Audit(what, "npm registry (npm audit)")
        packages = json.loads((ROOT / folder / "package-lock.json").read_text("utf-8"))["packages"]
        audit.packages = len(packages) - 1  # the first is the project
        done = run([npm(), "audit", "--package-lock-only", "--json"], ROOT / folder)
        yield of_npm(audit, done.stdout, done.stderr)


def of_npm(audit: Audit, printed: str, said: str) -> Audit:
    """Add what `npm audit --json` printed; without a list of vulnerabilities the registry did not answer."""
    try:
        answer = json.loads(printed)
    except ValueError:
        answer = {}
    if "vulnerabilities" not in answer:
        audit.failure = _reason(answer.get("message") or said)
        return audit
    audit.found = [f"{name} ({entry['severity']})" for name, entry in sorted(answer["vulnerabilities"].items())]
    return audit


def _rust() -> Iterator[Audit]:
    database = os.environ.get("RUSTSEC_DB", "")
    options = ["--db", database, "--no-fetch", "--stale"] if database else []
    for what, lock in CARGO_LOCKS.items():
        if not (ROOT / lock).exists():
            continue
        audit = Audit(what, "RustSec (cargo-audit)")
        done = run([cargo_tool("cargo-audit"), "audit", "--json", *options, "--file", ROOT / lock])
        yield of_cargo_audit(audit, done.stdout, done.stderr)


def of_cargo_audit(audit: Audit, printed: str, said: str) -> Audit:
    """Add what `cargo audit --json` printed, with the date of its database."""
    try:
        answer: dict[str, Any] = json.loads(printed)
        audit.packages = answer["lockfile"]["dependency-count"]
        audit.source += f", {answer['database']['advisory-count']} advisories"
        if updated := answer["database"]["last-updated"]:  # a copy may not tell
            audit.source += f" of {updated[:10]}"
        found = answer["vulnerabilities"]["list"]
    except (ValueError, KeyError, TypeError):
        audit.failure = _reason(said)
        return audit
    audit.found = [
        f"{entry['package']['name']} {entry['package']['version']}: {entry['advisory']['id']}" for entry in found
    ]
    return audit


def _reason(text: str) -> str:
    """Return the last line of a message, without colours and addresses: they are those of this machine's registries."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    line = re.sub(r"\S*(://|/)\S*", "…", lines[-1] if lines else "no answer")
    return line[:_REASON_CHARACTERS]


if __name__ == "__main__":
    sys.exit(main())
