"""Links between the pages of the documentation."""

import re
from pathlib import Path

import pytest
from typer.main import get_group

from sinemora.cli import IMPORTED, app

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
_GUIDE = ROOT / "CONTRIBUTING.md"
# A path in the guide, from the root or from one of the folders that its sections are about.
_PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]+)`")
_FOLDERS = ("", "backend", "backend/sinemora", "frontend/src", "e2e")
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_to_a_file(page):
    links = [link for link in _LINK.findall(page.read_text("utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_path_in_the_guide_for_contributors_exists():
    paths = [path for path in _PATH.findall(_GUIDE.read_text("utf-8")) if "NAME" not in path]
    assert [path for path in paths if not any((ROOT / folder / path).exists() for folder in _FOLDERS)] == []


_PLACES = ROOT / "frontend/src/features/shell"
_WORDS = ROOT / "frontend/src/lib/words.ts"
_PLACE_OR_PAGE = re.compile(r"^( +)(\{ )?name: strings\.(\w+)", re.MULTILINE)
_WAY = re.compile(r"(?:\*\*|\()(\w+) → (\w+)")
_BUTTONS = {"Add", "Find"}
"""Words that the names of buttons begin with: "Applications → Add application"."""


def test_ways_through_the_navigation_are_as_in_the_console():
    texts = "".join(path.read_text("utf-8") for path in (_WORDS, _PLACES / "strings.ts"))
    strings = dict(re.findall(r"^  (\w+): '([^']+)',$", texts, re.MULTILINE))
    ways: set[tuple[str, str]] = set()
    place = ""
    for indent, page, key in _PLACE_OR_PAGE.findall((_PLACES / "places.ts").read_text("utf-8")):
        if page:
            ways.add((place, strings[key].split()[0]))
        elif len(indent) > 6:
            place = strings[key]
    # A way begins with a place, or with a group that was.
    begins = {first for first, _ in ways} | {"More", "Incidents", "Alerting"}
    found = [(page.name, way) for page in PAGES for way in _WAY.findall(page.read_text("utf-8")) if way[0] in begins]
    assert len(found) >= 5
    assert [(page, way) for page, way in found if way not in ways and way[1] not in _BUTTONS] == []


_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_COMMAND = re.compile(r"(?<!helm install )(?<!helm upgrade )\b(make|sinemora) ([a-z][a-z-]*[a-z])\b(?!-)")


def test_every_command_in_the_docs_exists():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    known = {("make", name) for name in targets}
    known |= {("sinemora", name) for name in (*IMPORTED, *get_group(app).commands)}
    codes = [(page.name, code) for page in PAGES for code in _CODE.findall(page.read_text("utf-8"))]
    named = [(page, *command) for page, code in codes for command in _COMMAND.findall(code)]
    assert len(named) > 100
    assert [one for one in named if one[1:] not in known] == []
