"""The reading aid `make prose`: what it lists, and what it leaves alone."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def prose() -> ModuleType:
    spec = importlib.util.spec_from_file_location("prose", ROOT / "infra/prose/prose.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["prose"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Return the delay of a path, in nanoseconds.", []),
        ("What a path is told.", ["verb", "dialect"]),
        ("Whether a window is late.", ["verb"]),
        ("Store the rows. " + "One " * 26 + "sentence.", ["long"]),
        ("Read `what stands on` disk.", []),
    ],
)
def test_lists_sentences_worth_a_second_reading(prose: ModuleType, text: str, kinds: list[str]) -> None:
    assert [kind for kind, _ in prose.judge(text, callable_doc=True)] == kinds


def test_finds_docstrings_of_functions_that_name_no_action(
    prose: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    page = tmp_path / "page.py"
    page.write_text(
        '"""A module."""\n\n\ndef size():\n    """The size of it."""\n\n\nclass Size:\n    """The size."""\n'
    )
    assert [(finding.line, finding.kind) for finding in prose.read(page)] == [(4, "verb")]
