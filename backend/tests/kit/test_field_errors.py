from datetime import datetime
from typing import Annotated, Literal

import pytest
from pydantic import AwareDatetime, BaseModel, Field, ValidationError

from sinemora.kit.field_errors import field_errors


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
        {"type": "enum", "loc": ("query", "metric", "str-enum[Metric]"), "msg": "Input should be 'loss'"},
        {
            "type": "literal_error",
            "loc": ("query", "metric", "literal['deviation']"),
            "msg": "Input should be 'deviation'",
        },
        {"type": "int_parsing", "loc": ("query", "at", 1), "msg": "Input should be a valid integer"},
    ]
    assert field_errors(errors, None) == [
        {"pointer": "#/query/metric", "message": "Input should be 'loss' Or: Input should be 'deviation'"},
        {"pointer": "#/query/at/1", "message": "Input should be a valid integer"},
    ]
