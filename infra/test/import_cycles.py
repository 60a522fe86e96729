"""Refuse import cycles of Python, TypeScript and Rust: `import_cycles.py [FOLDER]`, this repository by default.

Imports that serve types alone do not count, nor do those of tests.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from os.path import normpath
from pathlib import Path

import grimp

import rust_modules

ROOT = Path(__file__).resolve().parents[2]
_IMPORT = re.compile(r"""^(?:import|export)(?! type)[^'"]*? from '([.~]/?[^']+)'|^import '([.~]/?[^']+)'""", re.M)


def main(root: Path = ROOT) -> int:
    """Print each cycle; the exit code says whether there is any."""
    found = list(cycles(root))
    print(*(f"import cycle: {' → '.join(cycle)}" for cycle in found), sep="\n", end="\n" if found else "")
    return 1 if found else 0


def cycles(root: Path) -> Iterator[list[str]]:
    """Yield one import cycle of the backend, of the front end, and of each folder of modules of a Rust crate."""
    yield from _cycle(_python(root / "backend"))
    yield from _cycle(_typescript(root / "frontend" / "src"))
    for folder in sorted((root / "agent").glob("**/src")):
        if "target" not in folder.relative_to(root).parts:
            for cycle in rust_modules.cycles_of(folder):
                yield [f"{folder.relative_to(root)}/{'::'.join(module)}" for module in cycle]


def _python(folder: Path) -> dict[str, set[str]]:
    sys.path.insert(0, str(folder))
    graph = grimp.build_graph("sinemora", exclude_type_checking_imports=True, cache_dir=None)
    # A module that imports itself by its name, since it runs as `__main__`, is no cycle.
    return {module: graph.find_modules_directly_imported_by(module) - {module} for module in graph.modules}


def _typescript(folder: Path) -> dict[str, set[str]]:
    modules = {str(path) for path in folder.rglob("*.ts*")}
    edges: dict[str, set[str]] = defaultdict(set)
    for module in modules:
        for relative in (match[1] or match[2] for match in _IMPORT.finditer(Path(module).read_text("utf-8"))):
            base = folder if relative.startswith("~/") else Path(module).parent
            target = normpath(base / relative.removeprefix("~/"))
            ends = ("", ".ts", ".tsx", "/index.ts", "/index.tsx")
            edges[module] |= {name for end in ends if (name := f"{target}{end}") in modules}
    return edges


def _cycle(edges: Mapping[str, set[str]]) -> Iterator[list[str]]:
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        yield error.args[1][::-1]  # each module is imported by the next one


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
