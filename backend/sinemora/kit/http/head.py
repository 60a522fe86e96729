"""HEAD wherever GET is: the headers of GET without its body (RFC 9110, §9.3.2)."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadAsGet:
    """ASGI middleware: run a HEAD request as GET, send its headers, and end it as if the client had disconnected.

    So a stream of events, whose body has no end, is closed after its headers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        started = False

        async def send_head(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                # Metrics and the server see the method of the request.
                scope["method"] = "HEAD"
                await send(message)
                await send({"type": "http.response.body", "body": b""})

        async def receive_until_started() -> Message:
            return {"type": "http.disconnect"} if started else await receive()

        scope["method"] = "GET"
        await self.app(scope, receive_until_started, send_head)
