"""Picture of the change by zone in a message: an image, a table of HTML, and a table of text for chats. Pure."""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import log1p

from sinemora.alerts.figures import FiguresPicture, quantity

# Wider tables do not fit into a message of a chat.
_PLACES_MAX, _NAME_MAX = 8, 16
_CELL = 24
# Changes of this size and less are hardly coloured.
_LEAST = {"ns": 5_000.0, "ratio": 0.005}
# The colours of the console: a rise is purple, a fall orange.
_UNKNOWN, _WHITE, _RISE, _FALL = (222, 226, 230), (255, 255, 255), (84, 39, 136), (179, 88, 6)


@dataclass(frozen=True, slots=True)
class Table:
    """A picture in words: names of columns, rows with a name and cells: a text, and a share of the largest change.

    Shares are signed, on a symmetric logarithmic scale, None where nothing is known.
    """

    caption: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, float | None], ...]], ...]

    def text(self) -> str:
        """Return it as text in columns of equal width."""
        first = max(len(name) for name in self.names)
        width = max(len(text) for text in (*self.names, *(text for _, line in self.rows for text, _ in line)))
        lines = [" " * first + "".join(f"  {name:>{width}}" for name in self.names)]
        lines += [f"{name:<{first}}" + "".join(f"  {text:>{width}}" for text, _ in line) for name, line in self.rows]
        return "\n".join(lines)


def table(picture: FiguresPicture) -> Table:
    """Return the first zones or VMs of a picture as a table."""
    names = tuple(_short(name) for name in picture.names[:_PLACES_MAX])
    values = [line[:_PLACES_MAX] for line in picture.values[:_PLACES_MAX]]
    largest = max((abs(one) for line in values for one in line if one is not None), default=0.0)
    rows = tuple(
        (name, tuple((_text(one, picture), _share(one, largest, _LEAST[picture.unit])) for one in line))
        for name, line in zip(names, values, strict=True)
    )
    nouns = "zones" if picture.by == "zone" else "VMs"
    cut = f", {len(names)} of {picture.of} {nouns}" if len(names) < picture.of else ""
    what = "Change from usual" if picture.is_change else "Packet loss" if picture.unit == "ratio" else "Value"
    return Table(f"{what}, from {nouns} (rows) to {nouns} (columns){cut}:", names, rows)


def _short(name: str) -> str:
    return name if len(name) <= _NAME_MAX else f"{name[: _NAME_MAX - 1]}…"


def _text(value: float | None, picture: FiguresPicture) -> str:
    if value is None:
        return "–"
    if not picture.is_change or not value:
        return quantity(value, picture.unit) if value else "0"
    return f"{'+' if value > 0 else '−'}{quantity(abs(value), picture.unit)}"


def _share(value: float | None, largest: float, least: float) -> float | None:
    if value is None:
        return None
    share = log1p(abs(value) / least) / log1p(max(largest, least) / least)
    return share if value >= 0 else -share


def _colour(share: float | None) -> tuple[int, int, int]:
    """Return white at 0, purple of a rise, orange of a fall, grey where unknown."""
    if share is None:
        return _UNKNOWN
    end = _RISE if share >= 0 else _FALL
    red, green, blue = (round(white + abs(share) * (one - white)) for white, one in zip(_WHITE, end, strict=True))
    return red, green, blue


def html(table: Table, image: str) -> str:
    """Return a table of HTML in colours, after the image (its Content-ID) for programs that keep no colours."""
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>{"".join(map(_html_cell, line))}</tr>'
        for name, line in table.rows
    )
    heads = "".join(f"<th>{escape(name)}</th>" for name in table.names)
    return (
        f'<p>{escape(table.caption)}</p><p><img src="cid:{image}" alt="The table below in colours."></p>'
        f'<table cellpadding="4" style="border-collapse:collapse"><tr><th></th>{heads}</tr>{cells}</table>'
    )


def _html_cell(cell: tuple[str, float | None]) -> str:
    text, share = cell
    ink = "#ffffff" if share is not None and abs(share) > 0.6 else "#16191d"
    colour = "#" + "".join(f"{part:02x}" for part in _colour(share))
    return f'<td bgcolor="{colour}" style="color:{ink};text-align:right">{escape(text)}</td>'


def png(table: Table) -> bytes:
    """Return a PNG of the cells in their colours (ISO/IEC 15948: truecolour, no filter)."""
    lines = []
    for _, line in table.rows:
        pixels = b"".join(bytes(_colour(share)) * (_CELL - 1) + bytes(_WHITE) for _, share in line)
        lines.append((b"\0" + pixels) * (_CELL - 1) + b"\0" + bytes(_WHITE) * (_CELL * len(line)))
    size = struct.pack(">IIBBBBB", len(table.names) * _CELL, len(table.rows) * _CELL, 8, 2, 0, 0, 0)
    parts: Sequence[tuple[bytes, bytes]] = (
        (b"IHDR", size),
        (b"IDAT", zlib.compress(b"".join(lines), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
