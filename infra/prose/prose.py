"""Lists sentences worth a second reading: a reading aid, not a gate.

    python3 infra/prose/prose.py [PATH …]     every finding as `file:line: kind: text`
    python3 infra/prose/prose.py --count      the number of findings of each kind, as JSON

It reads Markdown pages, the UI's `strings.ts` and `words.ts`, doc comments of Python, Rust and TypeScript, and
descriptions in `openapi.json`. Judgement decides what to do with a finding.
"""

import argparse
import ast
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORDS_MAX = 25
# Words that an engineer of this field would not choose here, with what to try instead.
DIALECT = {
    "told": "reported", "tells": "reports", "beside": "next to, in addition to", "whoever": "anyone who",
    "so many": "the number of", "of its own": "separate", "stands on": "is based on", "goes on": "continues",
    "anew": "again", "hears": "receives", "felt": "observed", "standing": "state", "so long as": "while",
    "come of": "result of", "nobody": "no one", "somebody": "someone",
}  # fmt: skip
_DIALECT = re.compile(rf"\b({'|'.join(map(re.escape, DIALECT))})\b", re.IGNORECASE)
# A function does something: its docstring starts with none of these.
_NOT_A_VERB = re.compile(
    r"(What|Whether|Who|Whom|Whose|Which|How|Where|When|Why|The|A|An|All|Every|Each|Its|No|So|As|Of|From|In|At|"
    r"One|Some|Many|Only|That|This|These|Those|Two|Nothing|Whatever|Is|Are|It)\b"
)
# A doc comment states; it does not ask.
_QUESTION = re.compile(r"(What|Whether|Who|How)\b")
_TEXTS = {"strings.ts", "words.ts"}
_DOCUMENTED = (".py", ".rs", ".ts", ".tsx")
_SENTENCE = re.compile(r"[^.!?:;|]+[.!?:;|]?")
_CODE = re.compile(r"`[^`]*`|\[[^]]*\]\([^)]*\)|<[^>]*>|https?://\S+|\{[^}]*\}")


@dataclass(frozen=True)
class Finding:
    """A sentence worth a second reading."""

    path: str
    line: int
    kind: str
    text: str


def main() -> int:
    """Print the findings, or their number. Return 0 whatever they are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", help="read only files below these paths (default: the whole project)")
    parser.add_argument("--count", action="store_true", help="print the number of findings of each kind as JSON")
    options = parser.parse_args()
    findings = [finding for path in files(options.paths) for finding in read(path)]
    kinds = Counter(finding.kind for finding in findings)
    if options.count:
        print(json.dumps({"total": len(findings), **dict(sorted(kinds.items()))}))
        return 0
    for finding in findings:
        print(f"{finding.path}:{finding.line}: {finding.kind}: {finding.text}")
    print(f"\n{len(findings)} findings: " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    return 0


def files(paths: list[str]) -> Iterator[Path]:
    """Yield the tracked files that hold prose."""
    listed = subprocess.run(
        ["git", "ls-files", "--", *paths], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for name in listed:
        path = ROOT / name
        readable = path.suffix in (".md", *_DOCUMENTED) or path.name == "openapi.json"
        if readable and path.is_file():
            yield path


def read(path: Path) -> list[Finding]:
    """Return the findings of one file."""
    name = str(path.relative_to(ROOT))
    match path.suffix:
        case ".md":
            pieces = _markdown(path)
        case ".py":
            pieces = _python(path)
        case ".rs":
            pieces = _rust(path)
        case ".ts" if path.name in _TEXTS:
            pieces = _strings(path)
        case ".ts" | ".tsx":
            pieces = _typescript(path)
        case _:
            pieces = _openapi(path)
    is_doc = path.suffix in _DOCUMENTED and path.name not in _TEXTS
    return [
        Finding(name, line, kind, text)
        for line, callable_doc, piece in pieces
        for kind, text in judge(piece, is_doc=is_doc, callable_doc=callable_doc)
    ]


def judge(text: str, *, is_doc: bool = False, callable_doc: bool = False) -> Iterator[tuple[str, str]]:
    """Yield kind and sentence of everything worth a second reading in a text."""
    plain = _CODE.sub("x", text)
    if is_doc and not callable_doc and _QUESTION.match(plain):
        yield "question", _short(text)
    if callable_doc and _NOT_A_VERB.match(plain):
        yield "verb", _short(text)
    for sentence in _SENTENCE.findall(" ".join(plain.split())):
        if match := _DIALECT.search(sentence):
            yield "dialect", f"{match.group()} → {DIALECT[match.group().lower()]} | {_short(sentence)}"
        if len(sentence.split()) > WORDS_MAX:
            yield "long", _short(sentence)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 160 else text[:157] + "…"


def _markdown(path: Path) -> Iterator[tuple[int, bool, str]]:
    """Yield the paragraphs of a page, without code, tables' rules and headings."""
    fenced, start = False, 0
    lines: list[str] = []
    for number, line in enumerate([*path.read_text("utf-8").splitlines(), ""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        if fenced or line.startswith(("    ", "#")) or not line.strip() or line.lstrip().startswith(("|", "- ", "* ")):
            if lines:
                yield start, False, " ".join(lines)
            lines = []
            if not fenced and line.lstrip().startswith(("|", "- ", "* ")) and not set(line) <= set("|-: "):
                yield number, False, line.strip(" |-*")
            continue
        if not lines:
            start = number
        lines.append(line.strip())


def _python(path: Path) -> Iterator[tuple[int, bool, str]]:
    """Yield the docstrings of a module."""
    try:
        tree = ast.parse(path.read_text("utf-8"))
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if not (text := ast.get_docstring(node)):
                continue
            is_property = any(
                (isinstance(mark, ast.Name) and mark.id in ("property", "cached_property", "fixture"))
                or (isinstance(mark, ast.Attribute) and mark.attr in ("fixture", "setter"))
                for mark in getattr(node, "decorator_list", ())
            )
            does = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_property
            yield getattr(node, "lineno", 1), does, text


def _rust(path: Path) -> Iterator[tuple[int, bool, str]]:
    """Yield the doc comments of a source file; those of functions must start with a verb."""
    start = 0
    lines: list[str] = []
    for number, line in enumerate([*path.read_text("utf-8").splitlines(), ""], 1):
        stripped = line.strip()
        if stripped.startswith(("///", "//!")):
            if not lines:
                start = number
            lines.append(stripped[3:].strip())
        elif not stripped.startswith("#[") and lines:
            does = bool(re.match(r"(pub(\([a-z]+\))? )?(const |async |unsafe )*fn ", stripped))
            yield start, does, " ".join(lines)
            lines = []


def _typescript(path: Path) -> Iterator[tuple[int, bool, str]]:
    """Yield the doc comments of a module; those of functions must start with a verb, those of components need not."""
    source = path.read_text("utf-8")
    for comment in re.finditer(r"/\*\*(.*?)\*/\s*((?:export |async |default )*function [a-z])?", source, re.DOTALL):
        text = " ".join(line.strip(" *") for line in comment[1].splitlines())
        yield source.count("\n", 0, comment.start()) + 1, comment[2] is not None, text.strip()


def _strings(path: Path) -> Iterator[tuple[int, bool, str]]:
    """Yield the quoted strings of a `strings.ts`."""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        for quoted in re.findall(r"'((?:[^'\\]|\\.)*)'|`([^`]*)`|\"((?:[^\"\\]|\\.)*)\"", line):
            yield number, False, "".join(quoted)


def _openapi(path: Path) -> Iterator[tuple[int, bool, str]]:
    """Yield summaries and descriptions of the API."""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if match := re.match(r'\s*"(?:description|summary)": "(.*)",?$', line):
            yield number, False, match.group(1).replace("\\n", " ")


if __name__ == "__main__":
    raise SystemExit(main())
