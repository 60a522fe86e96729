"""Wire shapes that several packages of alerts share."""

from typing import Annotated, Literal

from pydantic import Field

from sinemora.kit.schemas import Write

Url = Annotated[str, Field(pattern=r"^https?://[^\s/?#]+\S*$", max_length=2000)]


class Matcher(Write):
    """A label of incidents and the value it must have; * in `value` matches anything."""

    label: Literal["mesh", "severity", "suspect", "rule", "vm", "zone", "application"]
    value: Annotated[str, Field(min_length=1, max_length=200)]
    negate: bool = False
