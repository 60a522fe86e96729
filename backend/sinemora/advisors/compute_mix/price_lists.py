"""Use cases of price lists."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit, quotas
from sinemora.access.tenants.access import Actor
from sinemora.advisors.compute_mix.core import price_list
from sinemora.advisors.compute_mix.core.price_list import PriceListError
from sinemora.advisors.compute_mix.models import PriceList
from sinemora.advisors.compute_mix.price_schemas import (
    Entries,
    PriceListCreate,
    PriceListSample,
    ServerlessPrice,
    VmPrice,
)
from sinemora.kit.errors import ProductError, existing
from sinemora.kit.field_errors import document_errors

_SAMPLE = Path(__file__).with_name("sample_prices.json")
_PRICES = ("price_per_hour", "price_per_gb_second", "price_per_million_requests")
_NAMED = 3
"""Entries that an error names; more are counted."""
_ENTRIES: TypeAdapter[list[VmPrice | ServerlessPrice]] = TypeAdapter(Entries)


@cache
def sample() -> PriceListSample:
    """Return the price list that ships with the product."""
    return PriceListSample.model_validate_json(_SAMPLE.read_text("utf-8"))


def get_price_list(session: Session, price_list_id: UUID) -> PriceList:
    """Return the tenant's price list. ProductError `price_list_unknown`."""
    return existing(session.get(PriceList, price_list_id), "price list")


def import_price_list(session: Session, actor: Actor, body: PriceListCreate) -> PriceList:
    """Store a price list; replace the one of that name. ProductError `price_list_invalid`."""
    entries = [entry.model_dump(exclude_none=True) for entry in _entries(body)]
    quotas.lock(session)
    row = session.scalar(select(PriceList).where(PriceList.name == body.name))
    plain = body.model_dump(include={"currency", "as_of", "source"})
    if row is None:
        row = PriceList(name=body.name, entries=entries, **plain)
        audit.created(session, actor, "price_list", row)
        return row
    for name, value in plain.items():
        setattr(row, name, value)
    row.entries, row.updated_at = entries, datetime.now(UTC)
    audit.updated(session, actor, "price_list", row, [*plain, "entries"])
    return row


def delete_price_list(session: Session, actor: Actor, price_list_id: UUID) -> None:
    """Delete a price list. ProductError `price_list_unknown`."""
    row = get_price_list(session, price_list_id)
    audit.deleted(session, actor, "price_list", row)


def vm_price(session: Session, price_list_id: UUID, name: str, pointer: str) -> float:
    """Return the price per hour of a VM type. ProductError `price_list_unknown`, `price_unknown`, `price_ambiguous`."""
    return float(_entry(session, price_list_id, "vm", name, pointer)["price_per_hour"])


def serverless_price(session: Session, price_list_id: UUID, name: str, pointer: str) -> tuple[float, float]:
    """Return the prices per GB-second and per million requests. ProductErrors of `vm_price`."""
    entry = _entry(session, price_list_id, "serverless", name, pointer)
    return float(entry["price_per_gb_second"]), float(entry["price_per_million_requests"])


def _entry(session: Session, price_list_id: UUID, kind: str, name: str, pointer: str) -> dict[str, Any]:
    row = get_price_list(session, price_list_id)
    found = [entry for entry in row.entries if entry["kind"] == kind and entry["name"] == name]
    prices = {tuple(entry.get(field) for field in _PRICES) for entry in found}
    if len(prices) > 1:
        places = ", ".join(f"{entry['provider']} {entry['region']}" for entry in found[:_NAMED])
        raise ProductError(
            "price_ambiguous",
            422,
            f"Ambiguous price: {row.name} has {len(found)} {kind} entries named {name} ({places}"
            f"{', …' if len(found) > _NAMED else ''}). Give its price, or import a list of one region.",
            errors=[{"pointer": pointer, "message": f"has {len(prices)} prices in {row.name}"}],
        )
    if not found:
        raise ProductError(
            "price_unknown",
            404,
            f"Unknown price: {row.name} has no {kind} entry named {name}. Give its price, or choose another entry.",
            errors=[{"pointer": pointer, "message": f"is not in {row.name}"}],
        )
    return found[0]


def _entries(body: PriceListCreate) -> list[VmPrice | ServerlessPrice]:
    """Return the entries of an import. ProductError `price_list_invalid`, also for an entry that occurs twice."""
    entries, pointer = _read(body)
    first: dict[tuple[str, ...], int] = {}
    for at, entry in enumerate(entries, 1):
        before = first.setdefault((entry.kind, entry.provider, entry.region, entry.name), at)
        if before != at:
            words = f"{entry.kind} {entry.name} of {entry.provider} {entry.region}"
            raise _invalid(pointer, f"entry {at} repeats entry {before}, {words}: keep one of them")
    return entries


def _read(body: PriceListCreate) -> tuple[list[VmPrice | ServerlessPrice], str]:
    if body.entries is not None:
        return body.entries, "#/entries"
    pointer = "#/csv" if body.csv is not None else "#/json_text"
    try:
        if body.csv is not None:
            rows = price_list.entries_of_csv(body.csv)
        else:
            rows = price_list.entries_of_json(body.json_text or "")
        return _ENTRIES.validate_python(rows), pointer
    except PriceListError as error:
        raise _invalid(pointer, error.message) from error
    except ValidationError as error:
        first = document_errors(error.errors(), rows, Entries)[0]
        _, *path = first["pointer"].split("/")
        place = f"entry {int(path[0]) + 1}" if path else "entries"
        raise _invalid(pointer, f"{place}, {'.'.join(path[1:])}: {first['message']}") from error


def _invalid(pointer: str, message: str) -> ProductError:
    return ProductError(
        "price_list_invalid",
        422,
        f"Invalid price list: {message}.",
        errors=[{"pointer": pointer, "message": message}],
    )
