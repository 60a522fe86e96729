"""Flows of a schedule over TCP, for laboratories, and how long each took.

`flow_sender.py serve ADDRESS PORT` answers each connection with a byte when all its data is here.
`flow_sender.py send ADDRESS PORT FILE` sends the flows of FILE, JSON: pairs of start (s) and bytes. It prints the
completion times, JSON, s: from the start of the connection to the answer.
"""

import asyncio
import json
import struct
import sys
import time
from pathlib import Path

_HEADER = struct.Struct("!Q")
_PIECE = 65_536
_PATIENCE_S = 60


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    [left] = _HEADER.unpack(await reader.readexactly(_HEADER.size))
    while left:
        left -= len(await reader.read(min(left, _PIECE)))
    writer.write(b"!")
    await writer.drain()
    writer.close()


async def _serve(address: str, port: int) -> None:
    server = await asyncio.start_server(_answer, address, port, backlog=1024)
    print("serving", flush=True)
    await server.serve_forever()


async def _flow(address: str, port: int, began_s: float, start_s: float, size: int) -> float:
    await asyncio.sleep(began_s + start_s - time.monotonic())
    from_s = time.monotonic()
    reader, writer = await asyncio.open_connection(address, port)
    writer.write(_HEADER.pack(size))
    for at in range(0, size, _PIECE):
        writer.write(bytes(min(_PIECE, size - at)))
        await writer.drain()
    await reader.readexactly(1)
    took_s = time.monotonic() - from_s
    writer.close()
    return took_s


async def _send(address: str, port: int, flows: list[tuple[float, int]]) -> None:
    began_s = time.monotonic() + 0.1
    async with asyncio.timeout(flows[-1][0] + _PATIENCE_S):
        took_s = await asyncio.gather(*(_flow(address, port, began_s, at, size) for at, size in flows))
    print(json.dumps(took_s), flush=True)


if __name__ == "__main__":
    task, address, port, *file = sys.argv[1:]
    if task == "serve":
        asyncio.run(_serve(address, int(port)))
    else:
        asyncio.run(_send(address, int(port), json.loads(Path(file[0]).read_text("utf-8"))))
