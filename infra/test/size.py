"""Prints the size of the code and the times of the last whole test runs, a JSON object a figure: `make bench-size`."""

import json
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import grimp
from lab.benchmarks import figures

ROOT = Path(__file__).resolve().parents[2]
PROSE = ROOT / "infra" / "prose" / "prose.py"
RUNS = ROOT / ".tools" / "test-runs.json"
_GENERATED = ("_pb2.py", "_pb2.pyi")
_CODE = {".py", ".rs", ".ts", ".tsx"}


def main() -> None:
    """Print every figure."""
    files = [Path(name) for name in _git("ls-files", "-z").split("\0") if name and (ROOT / name).is_file()]
    backend = [path for path in files if path.parts[:2] == ("backend", "sinemora") and path.suffix == ".py"]
    agent = [path for path in files if path.parts[0] == "agent" and path.suffix == ".rs" and "tests" not in path.parts]
    figures.report("size_backend_lines", _lines(path for path in backend if not path.name.endswith(_GENERATED)))
    figures.report("size_agent_lines", _lines(agent))
    product = [path for path in files if path.suffix in _CODE and path.parts[0] in ("agent", "backend", "frontend")]
    folder, count = Counter(path.parent for path in product).most_common(1)[0]
    figures.report("size_largest_folder_files", count, folder=str(folder))
    decisions = [path for path in files if path.parts[:2] == ("docs", "decisions") and path.name[:4].isdecimal()]
    figures.report("size_decisions", len(decisions))
    if PROSE.exists():
        printed = subprocess.run(["python3", PROSE], cwd=ROOT, capture_output=True, text=True, check=False).stdout
        figures.report("size_prose_findings", sum(bool(re.match(r"\S+:\d+", line)) for line in printed.splitlines()))
    cycles = {"python": python_cycles(), "typescript": typescript_cycles(files), "rust": rust_cycles(files)}
    found = [sorted(cycle) for group in cycles.values() for cycle in group]
    figures.report("size_import_cycles", len(found), cycles=found)
    runs = json.loads(RUNS.read_text("utf-8")) if RUNS.exists() else {}
    for kind in ("clean", "again"):
        if run := runs.get(kind):
            more = {"cores": run.get("cores"), "failed": run.get("failed")}
            figures.report(f"test_seconds_{kind}", run["seconds"], **more)
            if "processor_seconds" in run:  # an older run did not count them
                figures.report(f"test_processor_seconds_{kind}", run["processor_seconds"], suites=run["processor"])
        else:
            figures.comment(f"test_seconds_{kind}: no such run yet: make test")
    figures.finish()


def python_cycles() -> list[set[str]]:
    """Return the groups of modules of the backend that import one another."""
    graph = grimp.build_graph("sinemora", exclude_type_checking_imports=True)
    return cycles({module: graph.find_modules_directly_imported_by(module) for module in graph.modules})


def typescript_cycles(files: Iterable[Path]) -> list[set[str]]:
    """Return the groups of modules of the front end that import one another; imports of types do not count."""
    modules = {path for path in files if path.parts[:2] == ("frontend", "src") and path.suffix in (".ts", ".tsx")}
    edges: dict[str, set[str]] = defaultdict(set)
    for path in modules:
        text = (ROOT / path).read_text("utf-8")
        for match in re.finditer(
            r"""^(?:import|export)(?! type)[^'"]*? from '([.~]/?[^']+)'|^import '([.~]/?[^']+)'""", text, re.M
        ):
            name = match[1] or match[2]
            source = Path("frontend/src", name[2:]) if name.startswith("~/") else path.parent / name
            target = Path(*_normal(source.parts))
            ends = ("", ".ts", ".tsx", "/index.ts", "/index.tsx")
            edges[str(path)] |= {name for end in ends if Path(name := f"{target}{end}") in modules}
    return cycles(edges)


def rust_cycles(files: Iterable[Path]) -> list[set[str]]:
    """Return the groups of modules of one crate that use one another; a module and its own submodules do not count."""
    found: list[set[str]] = []
    crates: dict[Path, list[Path]] = defaultdict(list)
    for path in files:
        if path.parts[0] == "agent" and path.suffix == ".rs" and "src" in path.parts:
            crates[Path(*path.parts[: path.parts.index("src") + 1])].append(path)
    for source, paths in crates.items():
        modules = {_rust_module(path.relative_to(source)): path for path in paths}
        edges: dict[str, set[str]] = defaultdict(set)
        for module, path in modules.items():
            text = re.sub(r"//.*", "", (ROOT / path).read_text("utf-8").split("#[cfg(test)]\nmod ")[0])
            for used in _rust_uses(text, module):
                target = next((known for known in _prefixes(used) if known in modules), "")
                related = target.startswith(f"{module}::") or module.startswith(f"{target}::")
                if target and target != module and not related and "tests" not in module:
                    edges[module].add(target)
        found += [{f"{source}: {name}" for name in cycle} for cycle in cycles(edges)]
    return found


def _rust_module(path: Path) -> str:
    parts = [*path.parts[:-1], *([] if path.stem in ("mod", "lib", "main") else [path.stem])]
    return "::".join(parts)


def _rust_uses(text: str, module: str) -> Iterable[str]:
    """Yield the full paths that `crate::` and `super::` lead to, groups in braces included."""
    for match in re.finditer(r"\b(crate|super)((?:::\w+)+)(?:::\{([^}]*)\})?", text):
        base = module.split("::")[:-1] if match[1] == "super" else []
        path = [*base, *(part for part in match[2].split("::") if part)]
        for name in (match[3] or "").split(",") if match[3] else [""]:
            yield "::".join([*path, *([name.strip().split("::")[0]] if name.strip() else [])])


def _prefixes(path: str) -> list[str]:
    parts = path.split("::")
    return ["::".join(parts[:length]) for length in range(len(parts), 0, -1)]


def cycles(edges: Mapping[str, set[str]]) -> list[set[str]]:
    """Return the strongly connected groups of more than one node (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(start: str) -> None:
        work = [(start, iter(sorted(edges.get(start, ()))))]
        index[start] = low[start] = len(index)
        stack.append(start)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    work.append((target, iter(sorted(edges.get(target, ())))))
                    break
                if target in stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = set(stack[stack.index(node) :])
                    del stack[stack.index(node) :]
                    if len(group) > 1:
                        found.append(group)

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def _normal(parts: tuple[str, ...]) -> list[str]:
    done: list[str] = []
    for part in parts:
        if part == "..":
            done.pop()
        elif part != ".":
            done.append(part)
    return done


def _lines(paths: Iterable[Path]) -> int:
    return sum(len((ROOT / path).read_bytes().splitlines()) for path in paths)


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
