"""The audit reports what its sources said, never their silence as safety; bills of materials follow their schema."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

import audit
import pytest
import sbom
from audit import Audit

ROOT = Path(__file__).parents[3]

KNOWN = {"name": "a", "version": "1", "vulns": []}
VULNERABLE = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["3"]}]}
UNKNOWN = {"name": "c", "skip_reason": "Dependency not found on PyPI and could not be audited: c (1)"}


def pip(*dependencies: Mapping[str, object]) -> Audit:
    return audit.of_pip_audit(Audit("backend", "PyPI"), json.dumps({"dependencies": dependencies}), "")


@pytest.mark.parametrize(
    ("outcome", "answered", "words"),
    [
        (pip(KNOWN), True, "none known"),
        (pip(KNOWN, VULNERABLE), True, "b 2: PYSEC-2026-1"),
        (pip(KNOWN, UNKNOWN), True, "none known; 1 packages not known to the source"),
        (pip(UNKNOWN), False, "**not audited**: the source knows none of the packages"),
        (
            audit.of_pip_audit(
                Audit("backend", "PyPI"), "", "x\n\x1b[1m\x1b[31mERROR:\x1b[0m cannot connect to https://host/x"
            ),
            False,
            "**not audited**: ERROR: cannot connect to …",
        ),
        (
            audit.of_npm(
                Audit("frontend", "npm", 3), '{"message": "405 Method Not Allowed - POST https://h/-/npm"}', ""
            ),
            False,
            "**not audited**: 405 Method Not Allowed - POST …",
        ),
        (
            audit.of_npm(Audit("frontend", "npm", 3), '{"vulnerabilities": {"d": {"severity": "high"}}}', ""),
            True,
            "d (high)",
        ),
        (audit.of_npm(Audit("frontend", "npm", 3), '{"vulnerabilities": {}}', ""), True, "none known"),
        (
            audit.of_cargo_audit(Audit("agent", "RustSec"), "", "cargo-audit: [Errno 2] No such file or directory"),
            False,
            "**not audited**: cargo-audit: [Errno 2] No such file or directory",
        ),
    ],
)
def test_an_outcome_says_what_the_source_said(outcome: Audit, answered: bool, words: str) -> None:
    assert (outcome.answered, outcome.words) == (answered, words)


@pytest.mark.parametrize(
    ("audits", "code"),
    [
        ([Audit("a", "s", 3)], 0),
        ([Audit("a", "s", 3, found=["x"]), Audit("b", "s", failure="away")], 1),
        ([Audit("a", "s", 3), Audit("b", "s", failure="away")], 2),
        ([Audit("a", "s", 3, unknown=3)], 2),
    ],
)
def test_the_exit_code_and_the_record(
    audits: list[Audit], code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = tmp_path / "security.md"
    page.write_text("before\n<!-- audit of dependencies -->\nold\n<!-- end of audit -->\nafter\n")
    monkeypatch.setattr(audit, "PAGE", page)
    monkeypatch.setattr(audit, "_python", lambda: audits)
    for name in ("_npm", "_rust"):
        monkeypatch.setattr(audit, name, list)
    assert audit.main() == code
    text = page.read_text()
    assert text.startswith("before\n<!-- audit")
    assert text.endswith("<!-- end of audit -->\nafter\n")
    assert "old" not in text
    assert all(f"| {entry.what} | {entry.packages} | {entry.source} | {entry.words} |" in text for entry in audits)


@pytest.mark.parametrize("part", ["backend", "frontend", "agent"])
def test_a_bill_of_materials_names_every_locked_package(part: str) -> None:
    text = getattr(sbom, part)()
    assert str(ROOT) not in text
    named = {(entry["name"].lower(), entry.get("version")) for entry in json.loads(text)["components"]}
    if part == "agent":
        lock = tomllib.loads((ROOT / "agent" / "Cargo.lock").read_text())["package"]
        assert named <= {(entry["name"], entry["version"]) for entry in lock}
        assert {"sinemora-native", "sinemora-wire", "rustls", "ring", "prost"} <= {name for name, _ in named}
        assert not {"prost-build", "proptest"} & {name for name, _ in named}
        # The loops of the backend, and what gives them to Python.
        assert not {"sinemora-solver", "sinemora-tail", "pyo3"} & {name for name, _ in named}
    elif part == "backend":
        lines = (ROOT / "backend" / "production.lock").read_text().splitlines()
        locked = {tuple(line.split()[0].lower().split("==")) for line in lines if "==" in line and line[0].isalpha()}
        assert locked <= named
    else:
        lock = json.loads((ROOT / "frontend" / "package-lock.json").read_text())["packages"]
        whole = {path.split("node_modules/")[-1]: entry for path, entry in lock.items() if path}
        loaded = {(name, entry["version"]) for name, entry in whole.items() if not {"dev", "devOptional"} & set(entry)}
        assert loaded <= named
        assert not {name for name, _ in named} & {name for name, entry in whole.items() if entry.get("dev")}


def test_a_bill_that_does_not_follow_the_schema_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bill").write_text('{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [{"kind": "x"}]}')
    with pytest.raises(sbom.SbomError, match="does not follow the schema"):
        sbom.validate(tmp_path / "bill")
