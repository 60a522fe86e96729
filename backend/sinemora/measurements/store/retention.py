"""Retention of each tier and table, for sweeps and for readers."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from sinemora.kit.config import settings
from sinemora.measurements.store.tiers import ROLLED, Tier


def kept_from_of(now: datetime) -> dict[Tier, datetime]:
    """Return the time since when the frames of each tier are kept."""
    days = {
        Tier.RAW: settings().retention_raw_days,
        Tier.MINUTE: settings().retention_1m_days,
        Tier.QUARTER: settings().retention_15m_days,
        Tier.HOUR: settings().retention_1h_days,
        Tier.DAY: settings().retention_1d_days,
    }
    return {tier: now - timedelta(days=kept) for tier, kept in days.items()}


def with_pins(kept_from: Mapping[Tier, datetime], pins: Iterable[tuple[datetime, datetime]]) -> dict[Tier, datetime]:
    """Return `kept_from` for a range under `pins`, each given by its start and its creation.

    Frames that were kept when a pin was created are still kept.
    """
    pinned = dict(kept_from)
    for started_at, created_at in pins:
        for tier, began_at in kept_from_of(created_at).items():
            if began_at <= started_at:
                pinned[tier] = min(pinned[tier], started_at)
    return pinned


def kept_tables(now: datetime) -> dict[str, datetime]:
    """Return the time since when the rows of each table are kept."""
    kept = kept_from_of(now)
    return (
        {tier.table: kept[tier] for tier in Tier}
        | {tier.zone_table: kept[tier] for tier in ROLLED}
        | {name: kept[Tier.MINUTE] for name in ("zone_minutes", "path_minutes", "spikes")}
        | {"vm_traffic": kept[Tier.RAW], "vm_connections": kept[Tier.RAW]}
    )
