from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import pytest
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from sinemora.kit.field_errors import field_errors, message_of
from sinemora.kit.names import Name


class Threshold(BaseModel):
    kind: Literal["threshold"]
    above: float


class Loss(BaseModel):
    kind: Literal["loss"]
    ratio: float = Field(le=1)


class Rule(BaseModel):
    condition: Annotated[Threshold | Loss, Field(discriminator="kind")]
    limit: int | Literal["auto"] = "auto"
    since: AwareDatetime | None = None
    parts: list[int | bool] = []


def errors_of(body: object) -> dict[str, str]:
    with pytest.raises(ValidationError) as caught:
        Rule.model_validate(body)
    errors = [{**error, "loc": ("body", *error["loc"])} for error in caught.value.errors()]
    return {error["pointer"]: error["message"] for error in field_errors(errors, body)}


def test_the_names_of_types_are_no_part_of_a_pointer():
    found = errors_of({"condition": {"kind": "loss", "ratio": 2}, "limit": "many", "parts": [1, "x"]})
    assert set(found) == {"#/condition/ratio", "#/limit", "#/parts/1"}
    assert " Or: " in found["#/limit"]
    assert "'auto'" in found["#/limit"]


def test_a_missing_field_is_named_by_where_it_belongs():
    assert errors_of({"condition": {"kind": "threshold"}}) == {"#/condition/above": "Required."}
    assert errors_of({}) == {"#/condition": "Required."}


@pytest.mark.parametrize("text", ["now-1h", "yesterday", "2026-11-25T22:00:00"])
def test_a_time_says_how_it_is_written(text: str):
    found = errors_of({"condition": {"kind": "loss", "ratio": 1}, "since": text})
    assert datetime.fromisoformat(found["#/since"].split(" as ")[1].split(" ")[0]).tzinfo is not None


def test_alternatives_of_a_parameter_are_one_error():
    errors = [
        {
            "type": "enum",
            "loc": ("query", "metric", "str-enum[Metric]"),
            "msg": "Input should be 'loss'",
            "ctx": {"expected": "'loss'"},
        },
        {
            "type": "literal_error",
            "loc": ("query", "metric", "literal['deviation']"),
            "msg": "Input should be 'deviation'",
            "ctx": {"expected": "'deviation'"},
        },
        {"type": "int_parsing", "loc": ("query", "at", 1), "msg": "Input should be a valid integer"},
    ]
    assert field_errors(errors, None) == [
        {"pointer": "#/query/metric", "message": "Must be 'loss'. Or: Must be 'deviation'."},
        {"pointer": "#/query/at/1", "message": "Not a whole number."},
    ]


class Everything(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Name = "a"
    code: str = Field("EUR", pattern=r"^[A-Z]{3}$")
    shape: str = Field("a1", pattern=r"^a\d$")
    ratio: float = Field(0.5, gt=0, lt=1, allow_inf_nan=False)
    load: float = Field(0.5, ge=0.05, le=0.95)
    count: int = Field(10, ge=10, le=10_000, multiple_of=2)
    names: list[str] = Field(["a"], min_length=1, max_length=2)
    on: bool = True
    key: UUID | None = None
    metric: Literal["p50", "p99"] = "p50"
    threshold: Threshold | None = None


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("name", "", "Must not be empty."),
        ("name", "x" * 101, "Too long: at most 100 characters."),
        ("name", "a\nb", "Line breaks and other control characters are not allowed."),
        ("name", "web\u202e1-bd", "Character 4 (U+202E) is invisible or changes the direction of writing. Remove it."),
        ("name", 5, "Not a text."),
        ("code", "eur", "Not three capital letters, as in EUR."),
        ("shape", "b1", r"Does not match the pattern ^a\d$."),
        ("ratio", 0, "Must be more than 0."),
        ("ratio", 1, "Must be less than 1."),
        ("ratio", float("nan"), "Not a finite number."),
        ("ratio", "1,5", "Not a number."),
        ("load", 0, "Must be at least 0.05."),
        ("load", 1, "Must be at most 0.95."),
        ("count", -2, "Must be at least 10."),
        ("count", 10_002, "Must be at most 10,000."),
        ("count", 11, "Must be a multiple of 2."),
        ("count", 1.5, "Not a whole number."),
        ("count", "many", "Not a whole number."),
        ("names", [], "Must not be empty."),
        ("names", ["a", "b", "c"], "Too long: at most 2 items."),
        ("names", "a", "Not a list."),
        ("on", "maybe", "Write true or false."),
        ("key", "1", "Not an id (UUID)."),
        ("metric", "p98", "Must be 'p50' or 'p99'."),
        ("threshold", 1, "Not an object."),
        ("other", 1, "Unknown field."),
    ],
)
def test_a_message_is_in_words_of_the_product(field: str, value: object, message: str):
    with pytest.raises(ValidationError) as caught:
        Everything.model_validate({field: value})
    assert [message_of(error) for error in caught.value.errors()] == [message]


class Price(BaseModel):
    per_hour: Annotated[Decimal, Field(ge=0, le=1_000_000, decimal_places=6)]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0.1234567, "At most 6 digits after the point."),
        (10_000_000, "Must be at most 1,000,000."),
        ("much", "Not a number."),
        ([], "Not a number."),
    ],
)
def test_amounts_of_money_are_refused_in_words_of_the_product(value: object, message: str):
    with pytest.raises(ValidationError) as caught:
        Price.model_validate({"per_hour": value})
    assert [message_of(error) for error in caught.value.errors()] == [message]
