"""Refuse import cycles among the modules of the Rust crates: `rust_modules.py [FOLDER]`, this repository by default.

import-linter refuses those of Python, Biome those of TypeScript.

A module imports another if it names its path (`crate::a::b`, `super::b`), or an item that a parent re-exports from it.
Modules are compared with their siblings, folders as a whole. Imports between a module and its own children do not
count, nor do those of tests.
"""

import re
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
Module = tuple[str, ...]

_COMMENT = re.compile(r"//[^\n]*")
_USE = re.compile(r"^[ \t]*(?:pub(?:\([^)]*\))?[ \t]+)?use\s+([^;]+);", re.MULTILINE)
_PATH = re.compile(r"\b(?:crate|super|self)(?:\s*::\s*\w+)+")
_REEXPORT = re.compile(r"^[ \t]*pub(?:\([^)]*\))?[ \t]+use\s+([^;]+);", re.MULTILINE)


def main(root: Path = ROOT) -> int:
    """Print each cycle; the exit code says whether there is any."""
    found = cycles(root)
    for cycle in found:
        print("import cycle:", " → ".join(cycle))
    return 1 if found else 0


def cycles(root: Path) -> list[list[str]]:
    """Return the import cycles of all crates, as paths from `root`."""
    folders = [folder for folder in sorted((root / "agent").glob("**/src")) if "target" not in folder.parts]
    found = [(folder.relative_to(root), cycle) for folder in folders for cycle in cycles_of(folder)]
    return [[f"{folder}/{'::'.join(module)}" for module in cycle] for folder, cycle in found]


def cycles_of(folder: Path) -> list[list[Module]]:
    """Return one import cycle for each group of siblings that has one."""
    sources = {module: source for module, source in _read(folder)}
    exports = {module: _exports(module, source, sources) for module, source in sources.items()}
    siblings: dict[Module, dict[Module, set[Module]]] = {}
    for module, source in sources.items():
        for path in _paths(source):
            target = _resolve(module, path, sources, exports)
            common = _common(module, target)
            if common < len(module) and common < len(target):
                graph = siblings.setdefault(module[:common], {})
                graph.setdefault(module[: common + 1], set()).add(target[: common + 1])
    return [cycle for _, graph in sorted(siblings.items()) if (cycle := _cycle(graph))]


def _read(folder: Path) -> Iterator[tuple[Module, str]]:
    for file in sorted(folder.rglob("*.rs")):
        parts = file.relative_to(folder).with_suffix("").parts
        if parts[-1] == "tests" or parts[-1].endswith("_tests") or parts[-1] == "main":
            continue
        if parts[-1] in ("mod", "lib"):
            parts = parts[:-1]
        source = _COMMENT.sub("", file.read_text())
        yield parts, re.split(r"#\[cfg\(test\)\]\s*mod\s+\w+\s*\{", source)[0]


def _paths(source: str) -> Iterator[list[str]]:
    """Return the paths that a source names, those of grouped imports one by one."""
    for use in _USE.findall(source):
        yield from (path for path in _expand(use) if path[0] in ("crate", "super", "self"))
    for path in _PATH.findall(_USE.sub("", source)):
        yield re.split(r"\s*::\s*", path)


def _expand(use: str) -> list[list[str]]:
    """Return the paths of one import: `a::{b, c::D}` is `a::b` and `a::c::D`."""
    use = use.strip()
    if "{" not in use:
        return [re.split(r"\s*::\s*", re.sub(r"\s+as\s+\w+$", "", use))] if use else []
    prefix, group = use.split("{", 1)
    names, depth = [""], 0
    for character in group[: group.rindex("}")]:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            names.append("")
        else:
            names[-1] += character
    return [path for name in names if name.strip() for path in _expand(prefix + name.strip())]


def _exports(module: Module, source: str, modules: dict[Module, str]) -> dict[str, Module]:
    """Return the children that a module re-exports items of, by item."""
    exports = {}
    for use in _REEXPORT.findall(source):
        for path in _expand(use):
            path = path[1:] if path[0] == "self" else path
            depth = len(path)
            while depth and (*module, *path[:depth]) not in modules:
                depth -= 1
            if 0 < depth < len(path):
                exports[path[-1]] = (*module, *path[:depth])
    return exports


def _resolve(
    module: Module, path: list[str], modules: dict[Module, str], exports: dict[Module, dict[str, Module]]
) -> Module:
    """Return the module that a path named in `module` leads to."""
    here = () if path[0] == "crate" else module
    for name in path:
        if name == "super":
            here = here[:-1]
        elif name not in ("crate", "self"):
            if (*here, name) not in modules:
                return exports.get(here, {}).get(name, here)
            here = (*here, name)
    return here


def _common(module: Module, other: Module) -> int:
    """Return how many names two modules have in common."""
    common = 0
    while common < min(len(module), len(other)) and module[common] == other[common]:
        common += 1
    return common


def _cycle(graph: dict[Module, set[Module]]) -> list[Module] | None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # Each module is imported by the next one.
        cycle: list[Module] = error.args[1]
        return cycle[::-1]
    return None


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
