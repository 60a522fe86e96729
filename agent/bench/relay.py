"""Pass connections on between networks: `relay.py FROM TO`, each `HOST:PORT` or the path of a Unix socket.

Two of them join by one socket a laboratory, in which a product cannot listen, and the machine.
"""

import asyncio
import contextlib
import sys


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while content := await source.read(1 << 16):
            target.write(content)
            await target.drain()
    target.close()


async def main(here: str, there: str) -> None:
    """Relay until ended."""

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, colon, port = there.rpartition(":")
        try:
            opened = asyncio.open_connection(host, port) if colon else asyncio.open_unix_connection(there)
            further, back = await opened
        except OSError:
            return writer.close()
        await asyncio.gather(_copy(reader, back), _copy(further, writer))

    host, colon, port = here.rpartition(":")
    server = await (asyncio.start_server(take, host, port) if colon else asyncio.start_unix_server(take, here))
    print("relaying", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
