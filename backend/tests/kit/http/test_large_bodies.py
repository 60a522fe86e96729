import asyncio
import gc
import time
from typing import Any

import pytest

from sinemora.kit.errors import BodyError
from sinemora.kit.http import strict_json
from sinemora.kit.http.routes import PARSED_AT_ONCE_BYTES, StrictRequest
from tests.api_clients import Caller
from tests.waits import until

MANY = b"[" + b"[]," * 240_000 + b"[]]"


def request_with(body: bytes) -> StrictRequest:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    return StrictRequest({"type": "http", "method": "POST", "headers": []}, receive)


async def silence_while_parsing(bodies: list[bytes]) -> tuple[float, float]:
    """Return the longest time that the event loop did nothing else, and that of all parsing, s."""
    longest, parsed = 0.0, False

    async def look() -> None:
        nonlocal longest
        while not parsed:
            began = time.perf_counter()
            await asyncio.sleep(0)
            longest = max(longest, time.perf_counter() - began)

    looking = asyncio.create_task(look())
    await asyncio.sleep(0.01)
    began = time.perf_counter()
    await asyncio.gather(*(request_with(body).json() for body in bodies))
    took = time.perf_counter() - began
    parsed = True
    await looking
    return longest, took


def test_the_event_loop_goes_on_while_two_large_bodies_are_parsed() -> None:
    assert len(MANY) > PARSED_AT_ONCE_BYTES
    tries = [asyncio.run(silence_while_parsing([MANY, MANY])) for _ in range(3)]
    assert any(longest < took / 3 for longest, took in tries), f"(silent, all), s: {tries}"  # one may see a stall


def test_a_body_of_too_many_values_is_refused_before_it_is_parsed() -> None:
    body = b"[" + b"[]," * 1_390_000 + b"[]]"
    with pytest.raises(strict_json.StrictJsonError, match="values; a body has at most 500,000"):
        strict_json.parse_large(body)
    with pytest.raises(BodyError):
        asyncio.run(request_with(body).json())


def test_the_collector_runs_again_after_a_large_body() -> None:
    assert strict_json.parse_large(MANY)[0] == []
    assert gc.isenabled()
    with pytest.raises(strict_json.StrictJsonError, match="NaN"):
        strict_json.parse_large(b"[" + b"0," * 40_000 + b"NaN]")
    assert gc.isenabled()


def test_cycles_are_collected_while_no_report_is_stored(client: Caller) -> None:
    gc.collect()
    kept = [[number] for number in range(40_000)]
    until(lambda: gc.get_count()[0] < len(kept) // 2, "a collection")
