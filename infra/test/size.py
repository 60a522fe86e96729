"""Prints the weight of the repository and of the last whole test runs, a JSON object a figure: `make bench-size`.

Lines are those of Python, Rust, TypeScript and CSS that git keeps. Each counts once, as product, test, benchmark or
generated code. Product is what users run, with the Python and TypeScript clients; migrations, `infra` but its tests,
and the generator of the clients, which set-up runs, count nowhere. Tests in Rust files (`#[cfg(test)]`) count as tests,
and so do the parts of `lab` that `make test` runs or starts servers with: soak, conformance, and the servers for tests.
"""

import json
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import grimp
from lab.benchmarks import figures
from sinemora.kit.http.encoding import CODINGS, compress

import rust_modules

ROOT = Path(__file__).resolve().parents[2]
RUNS = ROOT / ".tools" / "test-runs.json"
CODE = {".py", ".pyi", ".rs", ".ts", ".tsx", ".css"}
PICTURES = {".png", ".jpg", ".webp", ".gif", ".svg"}
# The first that matches decides.
KINDS = {
    "generated": r".*(_pb2\.pyi?|\.gen\.ts)|backend/client/sinemora_client/(models\.py|operations/.*)",
    "test": (
        r"backend/tests/.*|backend/lab/((soak|conformance)/.*|\w+\.py)|infra/test/.*"
        r"|agent/(fuzz|guests|interop)/.*|agent/.*(/tests/.*|/tests\.rs|_tests\.rs)"
        r"|frontend/.*\.test\.tsx?|frontend/src/testing/.*|e2e/(?!bench/).*"
    ),
    "bench": r"backend/lab/.*|agent/bench/.*|e2e/bench/.*",
    "product": r"(?!backend/(client/)?(generator/|hatch_build\.py))(agent|backend|frontend)/.*",
}
GENERATED_DATA = re.compile(r"backend/openapi\.json|backend/sinemora/contract/(problem_codes|examples/.*)\.json")
# To the brace in the first column that closes it.
_RUST_TESTS = re.compile(rb"^#\[cfg\(test\)\]\nmod \w+ \{\n.*?^\}\n", re.M | re.S)


def main() -> None:
    """Print every figure; exit with 1 when a bar is missed."""
    files = [name for name in _git("ls-files", "-z").split("\0") if name and (ROOT / name).is_file()]
    lines = lines_by_kind(files)
    for kind in ("product", "test", "bench"):
        figures.report(f"size_{kind}_lines", lines[kind].total(), packages=dict(lines[kind].most_common()))
    data = sum(len((ROOT / name).read_bytes().splitlines()) for name in files if GENERATED_DATA.fullmatch(name))
    figures.report("size_generated_lines_in_git", lines["generated"].total() + data)
    pictures = [(ROOT / name).stat().st_size for name in files if Path(name).suffix in PICTURES]
    figures.report("size_pictures_mb", sum(pictures) / 1e6, pictures=len(pictures))
    words = sum(len((ROOT / name).read_text("utf-8").split()) for name in files if name.endswith(".md"))
    figures.report("docs_words", words)
    import_cycles()
    layers = layers_of_rooms()
    arrows = upward_arrows(layers)
    rooms = [path for path in (ROOT / "backend" / "sinemora").iterdir() if is_room(path)]
    figures.report("size_rooms", len(rooms))
    figures.report("size_upward_arrows", len(arrows), arrows=arrows)
    contract()
    runs()
    figures.finish()


def lines_by_kind(files: list[str]) -> dict[str, Counter[str]]:
    """Return the lines of code of each kind, by package: the first two folders, three in the backend and console."""
    lines: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for name in files:
        kind = next((kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, name)), None)
        if kind is None or Path(name).suffix not in CODE:
            continue
        parts = Path(name).parts[:-1]
        package = "/".join(parts[: 4 if "features" in parts else 3 if parts[0] == "backend" else 2])
        text = (ROOT / name).read_bytes()
        tests = sum(len(match[0].splitlines()) for match in _RUST_TESTS.finditer(text)) if name.endswith(".rs") else 0
        lines["test"][package] += tests
        lines[kind][package] += len(text.splitlines()) - tests
    return {kind: +packages for kind, packages in lines.items()}  # without those of no lines


def import_cycles() -> None:
    """Print how many imports close a cycle in Python or Rust, and one more if there is one in TypeScript."""
    graph = grimp.build_graph("sinemora", exclude_type_checking_imports=True, cache_dir=None)
    python = {edge for package in graph.modules for edge in graph.nominate_cycle_breakers(package)}
    rust = rust_modules.cycles(ROOT)
    biome = ["npx", "--no-install", "biome", "lint", "--only=suspicious/noImportCycles", "src"]
    typescript = subprocess.run(biome, cwd=ROOT / "frontend", capture_output=True, check=False).returncode != 0
    cycles = len(python) + len(rust) + typescript
    figures.report("size_import_cycles", cycles, python=len(python), rust=len(rust), typescript=int(typescript))


def is_room(path: Path) -> bool:
    """Return whether a path in the folder of the backend is a package or a module."""
    return (path / "__init__.py").exists() or (path.suffix == ".py" and path.name != "__init__.py")


def layers_of_rooms() -> list[set[str]]:
    """Return the rooms of each layer of import-linter's first contract, the lowest layer first."""
    contracts = tomllib.loads((ROOT / "backend" / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    return [set(re.findall(r"\w+", layer)) for layer in reversed(contracts["contracts"][0]["layers"])]


def upward_arrows(layers: list[set[str]]) -> list[str]:
    """Return the pairs of rooms of which the first imports the second although it is not below it."""
    height = {room: at for at, rooms in enumerate(layers) for room in rooms}
    graph = grimp.build_graph("sinemora", cache_dir=None)
    arrows = set()
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            above, below = (f"{name}..".split(".")[1] for name in (importer, imported))
            if above and below and above != below and height.get(above, -1) <= height.get(below, -1):
                arrows.add(f"{above} → {below}")
    return sorted(arrows)


def contract() -> None:
    """Print how much of the contract is described, and the bytes of it that a client receives at most."""
    text = json.loads((ROOT / "backend" / "openapi.json").read_bytes())
    schemas = text["components"]["schemas"].values()
    described = ["description" in one for schema in schemas for one in schema.get("properties", {}).values()]
    figures.report("api_properties_described_percent", 100 * sum(described) / len(described), properties=len(described))
    body = json.dumps(text, ensure_ascii=False, separators=(",", ":")).encode()
    sent = {coding: len(compress(body, coding, thorough=True)[0]) for coding in CODINGS}
    figures.report("openapi_bytes_on_wire", max(sent.values()), uncompressed=len(body), **sent)


def runs() -> None:
    """Print how long the last runs of `make test` and `make check` took, and which have not been."""
    kept: Mapping[str, dict[str, object]] = json.loads(RUNS.read_text("utf-8")) if RUNS.exists() else {}
    for kind, figure in (("clean", "test_seconds_clean"), ("again", "test_seconds_again"), ("check", "check_seconds")):
        if run := kept.get(kind):
            details = {name: run[name] for name in ("cores", "failed", "suites")}
            figures.report(figure, float(str(run["seconds"])), **details)
        else:
            figures.comment(f"{figure}: no such run yet: make {'check' if kind == 'check' else 'test'}")
    if whole := [run for kind in ("clean", "again") if (run := kept.get(kind))]:
        worst = max(whole, key=lambda run: float(str(run["processor_seconds"])))
        figures.report("test_processor_seconds", float(str(worst["processor_seconds"])), suites=worst["processor"])


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
