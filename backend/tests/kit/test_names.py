"""Names: what a person reads is what they are."""

import json
import re
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from sinemora.kit.names import ONE_LINE, Name, checked_name, refusal

NAMES: TypeAdapter[str] = TypeAdapter(Name)
CONTRACT = Path(__file__).resolve().parents[2] / "openapi.json"

READABLE = [
    "web-1",
    "Zürich 2",
    "東京",
    "שרת ראשי",
    "خادم",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian: the joiner is part of the spelling
    "क्\u200dष",  # Devanagari
    "ops 👩\u200d💻",  # an emoji of three characters
    "❤\ufe0f\u200d🔥",
]
DECEPTIVE = [
    ("web\u202e1-bd", 4),  # right-to-left override
    ("a\u2066b", 2),  # isolate
    ("\u200b", 1),  # zero width space: an empty name
    ("we\u200bb", 3),
    ("ad\u200cmin", 3),  # a joiner that joins nothing
    ("\u200dweb", 1),
    ("web\ufeff", 4),
    ("so\u00adft", 3),
    ("\u3164", 1),  # Hangul filler: a letter without a shape
    ("x\u061c", 2),
]


def test_a_letter_typed_in_two_ways_is_one_name():
    assert NAMES.validate_python("cafe\u0301") == checked_name(" cafe\u0301 ") == "caf\u00e9"


@pytest.mark.parametrize("name", READABLE)
def test_names_in_any_language_are_allowed(name: str):
    assert NAMES.validate_python(name) == checked_name(name) == name
    assert re.search(ONE_LINE, name)  # Python and the validator's engine read the pattern alike


@pytest.mark.parametrize(("name", "at"), DECEPTIVE)
def test_a_name_that_shows_something_else_is_refused_with_its_character(name: str, at: int):
    with pytest.raises(ValidationError):
        NAMES.validate_python(name)
    assert not re.search(ONE_LINE, name)
    assert (refusal(name) or "").startswith(f"Character {at} (U+{ord(name[at - 1]):04X})")
    with pytest.raises(ValueError, match=r"invisible or changes the direction"):
        checked_name(name)


@pytest.mark.parametrize("name", ["a\nb", "a\x85b", "a\u2028b", "a\x00b", "a\x7fb"])
def test_line_breaks_and_control_characters_are_refused(name: str):
    with pytest.raises(ValidationError):
        NAMES.validate_python(name)
    assert refusal(name) == "Line breaks and other control characters are not allowed."


@pytest.mark.parametrize(("name", "reason"), [(" ", "must not be empty"), ("x" * 101, "101 characters, at most 100")])
def test_a_name_that_is_no_field_has_the_same_limits(name: str, reason: str):
    with pytest.raises(ValueError, match=reason):
        checked_name(name)


def test_every_name_of_a_request_body_follows_the_rule():
    """The contract has one rule; the name of an HTTP header has its own (RFC 9110, 5.1)."""
    schemas = json.loads(CONTRACT.read_text("utf-8"))["components"]["schemas"]
    bodies = {key: schema for key, schema in schemas.items() if schema.get("additionalProperties") is False}
    found = {
        f"{key}.{field}": [
            option.get("pattern") for option in shape.get("anyOf", [shape]) if option.get("type") == "string"
        ]
        for key, schema in bodies.items()
        if key != "HeaderAuthentication"
        for field, shape in schema.get("properties", {}).items()
        if field in ("name", "tenant_name", "device_name", "hostname")
    }
    assert len(found) > 15
    assert {field: patterns for field, patterns in found.items() if patterns != [ONE_LINE]} == {}
