"""JSON schemas of price lists."""

from datetime import date, datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import Field, model_validator

from sinemora.advisors.compute_mix.core.price_list import ENTRIES_MAX
from sinemora.kit.names import ONE_LINE_OR_EMPTY, Name
from sinemora.kit.schemas import Read, Write

Line = Annotated[Name, Field(description="One line")]
Price = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
PositivePrice = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]


class VmPrice(Write):
    """Price of a VM type."""

    kind: Literal["vm"]
    provider: Line
    region: Line
    name: Line
    price_per_hour: PositivePrice
    vcpus: Annotated[float, Field(gt=0, le=10_000)] | None = None
    memory_gb: Annotated[float, Field(gt=0, le=100_000)] | None = None


class ServerlessPrice(Write):
    """Price of a serverless offer: memory times busy time, and a fee per request."""

    kind: Literal["serverless"]
    provider: Line
    region: Line
    name: Line
    price_per_gb_second: Price
    price_per_million_requests: Price = 0.0


Entry = Annotated[VmPrice | ServerlessPrice, Field(discriminator="kind")]
Entries = Annotated[list[Entry], Field(min_length=1, max_length=ENTRIES_MAX)]


class PriceListCreate(Write):
    """Price list to import: `entries`, or a document as `csv` or `json` text. Replaces the list of that name."""

    name: Line
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$", description="ISO 4217")]
    as_of: Annotated[date, Field(description="Date of the prices")]
    source: Annotated[str, Field(max_length=500, pattern=ONE_LINE_OR_EMPTY)] | None = None
    entries: Entries | None = None
    csv: Annotated[str, Field(max_length=500_000, description="With a header; columns as the fields of entries")] | (
        None
    ) = None
    json_text: Annotated[str, Field(max_length=500_000)] | None = None

    @model_validator(mode="after")
    def _one_content(self) -> Self:
        if sum(content is not None for content in (self.entries, self.csv, self.json_text)) != 1:
            raise ValueError("give one of `entries`, `csv` and `json_text`")
        return self


class PriceListSample(Read):
    """Price list that ships with the product, to import as it is."""

    name: str
    currency: str
    as_of: date
    source: str | None
    entries: list[Entry]


class PriceListRead(PriceListSample):
    """Imported price list."""

    id: UUID
    created_at: datetime
    updated_at: datetime
