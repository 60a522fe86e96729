"""Many callers at once: the time of a light read of each, and of a sign-in."""

import asyncio
import http.client
import json
import time
from collections.abc import Sequence
from statistics import median

from lab.benchmarks.scaling.fleet import Line


def signin_ms(port: int, email: str, password: str, times: int) -> float:
    """Return the median time of a sign-in, ms.

    A sign-in that the limit of the address refuses does not count: it is sent again when the answer says.
    """
    body = json.dumps({"email": email, "password": password})
    taken: list[float] = []
    while len(taken) < times:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        began = time.perf_counter()
        connection.request("POST", "/v1/auth/sign-in", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        took_s = time.perf_counter() - began
        connection.close()
        if answer.status == 429:
            time.sleep(float(answer.headers["Retry-After"]))
            continue
        if answer.status != 200:
            raise RuntimeError(f"sign-in: {answer.status}")
        taken.append(1e3 * took_s)
    return median(taken)


async def read_ms(port: int, path: str, secrets: Sequence[str], reads_each: int, pause_s: float) -> list[float]:
    """Return the times of all reads, ms: each caller has a connection and sends a read every `pause_s`."""
    times: list[float] = []

    async def caller(secret: str, at: int) -> None:
        line = Line(port)
        request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {secret}\r\n\r\n".encode()
        await asyncio.sleep(pause_s * at / len(secrets))
        for _ in range(reads_each):
            began = time.perf_counter()
            if (status := await line.ask(request)) != 200:
                raise RuntimeError(f"{path}: {status}")
            times.append(1e3 * (time.perf_counter() - began))
            await asyncio.sleep(max(0.0, pause_s - (time.perf_counter() - began)))
        line.close()

    await asyncio.gather(*(caller(secret, at) for at, secret in enumerate(secrets)))
    return times
