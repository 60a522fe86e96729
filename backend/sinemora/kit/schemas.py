"""Base classes of JSON schemas.

Pydantic builds the validator of a schema at its first use (`defer_build`): there are hundreds, and each process of the
product uses some of them.
"""

import warnings
from collections import Counter
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema
from pydantic.warnings import UnsupportedFieldAttributeWarning

# FastAPI names a parameter by a field attribute that its type does not have. It hides this warning only where it makes
# the parameter, which is before the first use.
warnings.filterwarnings("ignore", category=UnsupportedFieldAttributeWarning)


def _distinct(values: list[Any]) -> list[Any]:
    if repeated := [str(value) for value, times in Counter(values).items() if times > 1]:
        raise ValueError(f"each may occur once; repeated: {', '.join(repeated)}")
    return values


# After the limits of a list of choices: a repeated one would be two columns of one name.
DISTINCT = (AfterValidator(_distinct), Field(json_schema_extra={"uniqueItems": True}))


def _not_null(value: Any) -> Any:
    if value is None:
        raise ValueError("Must not be null: leave the field out to keep its value.")
    return value


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


T = TypeVar("T")
# Field of an update that may be left out, and is None then, but cannot be cleared: null is refused. A default is not
# validated, and the contract has neither null nor a default for it. After the type has read the value: a validator
# before it gets a Python value, and types that are strict about Python, such as times, then refuse the text of JSON.
Omittable = Annotated[T | SkipJsonSchema[None], AfterValidator(_not_null), Field(json_schema_extra=_without_default)]


class Write(BaseModel):
    """Request body of a client. Unknown fields are refused, so that a typing error is noticed."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True, defer_build=True)


class AgentWrite(BaseModel):
    """Request body of an agent. Unknown fields are ignored: the agent may be newer than the backend."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True, defer_build=True)


class Read(BaseModel):
    """Response body. It is complete, so every field is required in the contract."""

    model_config = ConfigDict(from_attributes=True, json_schema_serialization_defaults_required=True, defer_build=True)

    @classmethod
    def from_row(cls, row: object, **others: Any) -> Self:
        """Return a response with `others`, and with the values that the row has under the names of the other fields."""
        same = {name: getattr(row, name) for name in cls.model_fields if name not in others}
        return cls(**same, **others)
