"""YAML of users: what is refused, and that a short document cannot keep the server busy."""

import pytest

from sinemora.kit import yaml_text
from sinemora.kit.http import strict_json
from sinemora.kit.yaml_text import YamlError


def laughs(levels: int, width: int = 9) -> bytes:
    """Return a document of lists, each of which has the one before `width` times: `width ** levels` values."""
    lines = ["a0: &a0 [x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * width)}]" for level in range(1, levels + 1)]
    return "\n".join(lines).encode()


def test_aliases_are_read():
    assert yaml_text.load(b"a: &x {b: 1}\nc: *x\nd: [*x, *x]") == {"a": {"b": 1}, "c": {"b": 1}, "d": [{"b": 1}] * 2}
    assert len(yaml_text.load(laughs(3))) == 4
    assert yaml_text.load(b"base: &b {x: 1}\nmore: {<<: *b, y: 2}")["more"] == {"x": 1, "y": 2}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (laughs(9), "Too many values: more than 500,000, with what aliases stand for"),
        (laughs(30), "Too many values"),
        (b"&a [*a]", "The alias *a stands inside of what it stands for"),
        (b"a: &a {b: [*a]}", "The alias *a stands inside of what it stands for"),
        (b"[*unknown]", "undefined alias"),
        (b"a: .inf", "#/a: not a number that can be stored"),
        (b"a: [1, .nan]", "#/a/1: not a number that can be stored"),
        (b"a: 1.5e+999", "#/a: not a number that can be stored"),
        (b"[" * 70 + b"]" * 70, "Nested too deeply: more than 64 levels"),
        (b"a: 2026-13-45", "Not YAML"),
        (b"\xff", "Not YAML"),
    ],
)
def test_what_cannot_be_stored_is_refused(text: bytes, words: str):
    with pytest.raises(YamlError) as refused:
        yaml_text.load(text)
    assert words in str(refused.value)


def test_very_many_values_without_aliases_are_refused_too():
    with pytest.raises(YamlError, match="Too many values"):
        yaml_text.load(b"[" + b"1," * (strict_json.VALUES_MAX + 1) + b"]")
