"""Find the problem codes that each operation can answer with, in the source of the product.

    python -m lab.conformance.problem_codes --output sinemora/problem_codes.json

A function reaches the functions, classes and module variables that its source names, dependencies and decorators
included. A code is found where `ProductError` gets it as a literal, `NotFound` its noun, or a helper that passes its
argument on, as `still_used` does. An operation may have codes that it never answers. Tests fail when an answer has a
code that its operation does not have (`tests/recorded_examples.py`).
"""

import argparse
import ast
import inspect
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi.routing import APIRoute

import sinemora
from sinemora.access.tenants.access import accepted_tokens, authenticate_early, required_role, signed_in_or_none
from sinemora.access.tenants.models import Role
from sinemora.fleet.inventory.agents import authenticate as authenticate_agent
from sinemora.kit.http.known_ids import check_known, noun_of
from sinemora.kit.http.routes import early_of
from sinemora.kit.json_text import json_text

Code = tuple[int, str]
PACKAGE = Path(sinemora.__file__).parent
_METHODS = {"hub.admit", "precondition.check"}
"""Methods that raise and are called on values whose class the source does not name where they are called."""
_ELSEWHERE = {
    ("sinemora.access.tenants.access", "is_for_people"),  # compares dependencies, and calls none
    ("sinemora.access.tenants.access", "required_role"),
    ("sinemora.jobs.dispatch", "TASKS"),  # a worker calls them
}
# Codes whose noun is a value: which operations answer them, tests have shown.
_UNSEEN: tuple[tuple[tuple[str, ...], Code], ...] = (
    (("create_device_token",), (409, "too_many_objects")),
    *((("create_annotation", "update_annotation"), (404, f"{noun}_unknown")) for noun in ("vm", "zone", "application")),
    *(
        (("create_application", "update_application", "import_applications"), (404, f"{noun}_unknown"))
        for noun in ("mesh", "vm", "zone", "application", "curve", "curve_version")
    ),
    *(
        (("ask_what_if",), (404, f"{noun}_unknown"))
        for noun in ("vm", "zone", "task", "application", "curve", "curve_version")
    ),
)
_SAFE = {"GET", "HEAD", "OPTIONS"}
_NOUN = -404
"""Stands for the status where a parameter is the noun of `NotFound`."""


@dataclass
class Node:
    """Function, class or variable of a module: what its source names, and its codes."""

    module: str
    name: str
    source: ast.AST
    parameters: list[str] = field(default_factory=list)
    codes: set[Code] = field(default_factory=set)
    passes: list[tuple[str, int]] = field(default_factory=list)
    """Parameters that become a code, with the status."""
    targets: set[tuple[str, str]] | None = None


class Source:
    """The parsed package."""

    def __init__(self, package: Path) -> None:
        self.nodes: dict[tuple[str, str], Node] = {}
        self.names: dict[str, dict[str, tuple[str, str]]] = {}
        self.methods: dict[str, list[tuple[str, str]]] = defaultdict(list)
        files = [path for path in package.rglob("*.py") if not path.name.endswith("_pb2.py")]
        for path in files:
            module = ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")
            self._read(module, ast.parse(path.read_text("utf-8")))
        for node in self.nodes.values():
            _find_codes(node)

    def _read(self, module: str, tree: ast.Module) -> None:
        names = self.names[module] = {}
        for statement in ast.walk(tree):
            if isinstance(statement, ast.ImportFrom) and statement.module and statement.module.startswith("sinemora"):
                for one in statement.names:
                    names[one.asname or one.name] = (statement.module, one.name)
        for statement in tree.body:
            for name in _defined(statement):
                self._add(module, name, statement)
                names[name] = (module, name)
            if isinstance(statement, ast.ClassDef):
                for member in statement.body:
                    if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
                        name = f"{statement.name}.{member.name}"
                        self._add(module, name, member)
                        self.methods[member.name].append((module, name))

    def _add(self, module: str, name: str, source: ast.AST) -> None:
        parameters = []
        if isinstance(source, ast.FunctionDef | ast.AsyncFunctionDef):
            parameters = [one.arg for one in (*source.args.posonlyargs, *source.args.args, *source.args.kwonlyargs)]
        self.nodes[module, name] = Node(module, name, source, parameters)

    def reached(self, key: tuple[str, str]) -> frozenset[Code]:
        """Return the codes that a node and all it reaches can raise."""
        codes: set[Code] = set()
        seen, waiting = {key, *_ELSEWHERE}, [key]
        while waiting:
            node = self.nodes.get(waiting.pop())
            if node is None:
                continue
            if node.targets is None:
                node.targets = set(self._targets(node))
                node.codes |= set(self._passed(node))
            codes |= node.codes
            waiting += node.targets - seen
            seen |= node.targets
        return frozenset(codes)

    def of_modules(self, prefix: str) -> set[Code]:
        """Return all codes of modules."""
        return {code for node in self.nodes.values() if node.module.startswith(prefix) for code in node.codes}

    def _targets(self, node: Node) -> Iterator[tuple[str, str]]:
        for part in _parts(node.source):
            if found := self._target(node, part):
                module, name = found
                yield from (found, (module, f"{name}.__init__"), (module, f"{name}.__call__"))
            elif isinstance(part, ast.Attribute) and ast.unparse(part) in _METHODS:
                yield from (one for one in self.methods[part.attr] if self.nodes[one].codes)

    def _target(self, node: Node, part: ast.AST) -> tuple[str, str] | None:
        """Return the node that a name or an attribute in the source of another one means."""
        if isinstance(part, ast.Name):
            return self._resolve(node.module, part.id)
        return self._attribute(node, part) if isinstance(part, ast.Attribute) else None

    def _resolve(self, module: str, name: str) -> tuple[str, str] | None:
        """Return the node of a name in a module, through re-exports."""
        for _ in range(5):
            target = self.names.get(module, {}).get(name)
            if target is None or target in self.nodes:
                return target
            module, name = target
        return None

    def _attribute(self, node: Node, part: ast.Attribute) -> tuple[str, str] | None:
        if isinstance(part.value, ast.Call) and isinstance(part.value.func, ast.Name):
            return self._method(node.module, part.value.func.id, part.attr)
        if not isinstance(part.value, ast.Name):
            return None
        if part.value.id == "self" and "." in node.name:
            found = (node.module, f"{node.name.split('.')[0]}.{part.attr}")
            return found if found in self.nodes else None
        target = self.names.get(node.module, {}).get(part.value.id)
        if target is None:
            return None
        if (module := ".".join(target)) in self.names:
            return self._resolve(module, part.attr)
        found = (target[0], f"{target[1]}.{part.attr}")
        if found in self.nodes:
            return found
        source = getattr(self.nodes[target].source, "value", None) if target in self.nodes else None
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name):  # an object of the module
            return self._method(target[0], source.func.id, part.attr)
        return None

    def _method(self, module: str, name: str, method: str) -> tuple[str, str] | None:
        """Return the node of a method of the class that a module knows by a name."""
        target = self._resolve(module, name)
        found = (target[0], f"{target[1]}.{method}") if target else None
        return found if found in self.nodes else None

    def _passed(self, node: Node) -> Iterator[Code]:
        for part in _parts(node.source):
            if not isinstance(part, ast.Call):
                continue
            target = self._target(node, part.func)
            helper = self.nodes.get(target) if target else None
            for parameter, status in helper.passes if helper else ():
                if helper is None or parameter not in helper.parameters:
                    continue
                literal = _argument(part, helper.parameters.index(parameter), parameter)
                if literal is not None:
                    yield (404, f"{literal.replace(' ', '_')}_unknown") if status == _NOUN else (status, literal)


def _defined(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return [statement.target.id]
    if isinstance(statement, ast.Assign):
        return [one.id for one in statement.targets if isinstance(one, ast.Name)]
    return []


def _parts(source: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node; of a class only what runs when it is named: its bases, not its methods.

    Decorators are left out: those of routes name the router, and dependencies are found in the route itself.
    """
    if isinstance(source, ast.ClassDef):
        for part in (*source.bases, *source.decorator_list, *source.keywords):
            yield from ast.walk(part)
        for member in source.body:
            if isinstance(member, ast.AnnAssign | ast.Assign) or (
                isinstance(member, ast.FunctionDef) and any(map(_validates, member.decorator_list))
            ):
                yield from ast.walk(member)
        return
    if isinstance(source, ast.FunctionDef | ast.AsyncFunctionDef):
        for part in (source.args, *([source.returns] if source.returns else []), *source.body):
            yield from ast.walk(part)
        return
    yield from ast.walk(source)


def _validates(decorator: ast.expr) -> bool:
    return "validator" in ast.unparse(decorator)


def _find_codes(node: Node) -> None:
    for part in _parts(node.source):
        if not isinstance(part, ast.Call):
            continue
        called = part.func.id if isinstance(part.func, ast.Name) else getattr(part.func, "attr", "")
        if called == "NotFound" and part.args:
            for noun in _literals(part.args[0]):
                node.codes.add((404, f"{noun.replace(' ', '_')}_unknown"))
            if isinstance(part.args[0], ast.Name) and part.args[0].id in node.parameters:
                node.passes.append((part.args[0].id, _NOUN))
        elif _is_product_error(part, called):
            statuses = [int(one) for one in _literals(part.args[1])] or [0]
            for status in statuses:
                for code in _literals(part.args[0]):
                    node.codes.add((status, code))
                if isinstance(part.args[0], ast.Name) and part.args[0].id in node.parameters:
                    node.passes.append((part.args[0].id, status))
                if variable := _noun(part.args[0]):
                    node.passes.append((variable, _NOUN))


def _is_product_error(call: ast.Call, called: str) -> bool:
    """Return whether a call creates a ProductError, or is the constructor of a class derived from it."""
    if len(call.args) < 2:
        return False
    status = call.args[1]
    is_status = isinstance(status, ast.Constant) and isinstance(status.value, int) and 400 <= status.value < 600
    return called == "ProductError" or (ast.unparse(call.func) == "super().__init__" and is_status)


def _literals(part: ast.expr) -> list[str]:
    """Return the values of a literal, or of both arms of a conditional expression."""
    if isinstance(part, ast.Constant) and isinstance(part.value, str | int):
        return [str(part.value)]
    if isinstance(part, ast.IfExp):
        return _literals(part.body) + _literals(part.orelse)
    return []


def _noun(part: ast.expr) -> str | None:
    """Return the variable of a text such as f"{kind}_unknown"."""
    if isinstance(part, ast.JoinedStr) and len(part.values) == 2 and isinstance(part.values[0], ast.FormattedValue):
        value = part.values[0].value
        return value.id if isinstance(value, ast.Name) else None
    return None


def _argument(call: ast.Call, at: int, name: str) -> str | None:
    values = [one.value for one in call.keywords if one.arg == name] or call.args[at : at + 1]
    literals = _literals(values[0]) if values else []
    return literals[0] if literals else None


def codes_of(routes: Iterable[Any]) -> dict[str, dict[str, list[str]]]:
    """Return the codes of each operation by status, those of the framework and of authentication excluded."""
    source = Source(PACKAGE)
    table: dict[str, dict[str, list[str]]] = {}
    for route in routes:
        if not isinstance(route, APIRoute) or not route.include_in_schema:
            continue
        reached: set[Code] = set()
        roots = {route.endpoint, *_dependencies(route.dependant), *early_of(route)}
        for call in roots:
            module = inspect.getmodule(call)
            if module is not None and module.__name__.startswith("sinemora"):
                reached |= source.reached((module.__name__, call.__qualname__.split(".<locals>")[0]))
        if authenticate_early in early_of(route) or signed_in_or_none in roots:
            for authenticate in accepted_tokens():
                of_token = source.reached((authenticate.__module__, authenticate.__qualname__))
                reached |= {one for one in of_token if one[0] in (401, 403)}
        elif not early_of(route) and "POST" in (route.methods or ()):
            reached.add((429, "too_many_requests"))
        if check_known in roots:
            names = [name for name in inspect.signature(route.endpoint).parameters if name.endswith("_id")]
            reached |= {(404, f"{noun_of(name)}_unknown") for name in names if name not in route.path}
        if "POST" in (route.methods or ()) and early_of(route) and not getattr(route.endpoint, "only_reads", False):
            reached.add((409, "too_many_objects"))  # any table may be full
        if set(route.methods or ()) - _SAFE and required_role(route) in (Role.viewer, Role.editor):
            reached.add((403, "all_meshes_required"))  # any row may belong to no mesh
        if route.name == "create_report":  # dispatched past the framework
            reached |= source.of_modules("sinemora.measurements.ingest.")
            reached |= source.reached((authenticate_agent.__module__, authenticate_agent.__name__))
        reached |= {code for names, code in _UNSEEN if route.name in names}
        if set(route.methods or ()) <= _SAFE:
            reached.discard((403, "csrf_token_invalid"))
        if "PATCH" not in (route.methods or ()):
            reached.discard((428, "if_match_required"))
        by_status: dict[str, list[str]] = defaultdict(list)
        for status, code in sorted(reached):
            by_status[str(status)].append(code)
        table[route.name] = dict(by_status)
    return dict(sorted(table.items()))


def _dependencies(dependant: Any) -> Iterator[Any]:
    for inner in dependant.dependencies:
        if inner.call is not None:
            yield inner.call
        yield from _dependencies(inner)


def main() -> None:
    """Write the table."""
    from sinemora.main import ROUTERS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True)
    table = codes_of(route for router in ROUTERS for route in router.routes)
    parser.parse_args().output.write_text(json_text(table) + "\n", "utf-8")


if __name__ == "__main__":
    main()
