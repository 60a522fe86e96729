"""The command `sinemora gateway`."""

import sys
from pathlib import Path
from typing import Annotated

from typer import Exit, Option, Typer

from sinemora.operations.gateway.options import MIB, Acknowledge, GatewayError, Options, backend_of, listen_of, tls_of

_EPILOG = """\b
Examples:
  sinemora gateway --listen 127.0.0.1:8430 --backend https://sinemora.example --directory /var/lib/sinemora-gateway
  sinemora gateway --listen 0.0.0.0:443 --backend https://sinemora.example --directory /var/lib/sinemora-gateway \\
    --acknowledge queued --tls-certificate fullchain.pem --tls-key privkey.pem

Agents use the gateway as their `backend`. Each option can be an environment variable: SINEMORA_GATEWAY_LISTEN …

Exit codes: 0 stopped by a signal, 1 the gateway cannot start, 2 invalid options, 3 the port cannot be used."""

app = Typer(add_completion=False, rich_markup_mode=None)


@app.command("gateway", epilog=_EPILOG)
def gateway(
    backend: Annotated[str, Option(help="Address of the backend, https://HOST.", envvar="SINEMORA_GATEWAY_BACKEND")],
    directory: Annotated[
        Path,
        Option(help="Folder of the queue, for this gateway only; secret.", envvar="SINEMORA_GATEWAY_DIRECTORY"),
    ],
    listen: Annotated[
        str, Option(help="Address and port for agents.", envvar="SINEMORA_GATEWAY_LISTEN")
    ] = "127.0.0.1:8430",
    acknowledge: Annotated[
        Acknowledge,
        Option(
            help="Acknowledge a report once the backend has stored it, or once it is queued on the disk here.",
            envvar="SINEMORA_GATEWAY_ACKNOWLEDGE",
        ),
    ] = Acknowledge.STORED,
    capacity_mib: Annotated[
        int, Option(min=1, help="Largest size of the queue, MiB.", envvar="SINEMORA_GATEWAY_CAPACITY_MIB")
    ] = 1024,
    verify_s: Annotated[
        float,
        Option(
            min=1,
            max=3600,
            help="Longest time until a revoked credential is refused here, s.",
            envvar="SINEMORA_GATEWAY_VERIFY_S",
        ),
    ] = 60.0,
    outage_hours: Annotated[
        float,
        Option(
            min=0,
            max=24 * 30,
            help="Longest time for which known credentials are accepted while the backend is away, hours.",
            envvar="SINEMORA_GATEWAY_OUTAGE_HOURS",
        ),
    ] = 24.0,
    tls_certificate: Annotated[
        Path | None,
        Option(help="PEM file of the certificate with its chain.", envvar="SINEMORA_GATEWAY_TLS_CERTIFICATE"),
    ] = None,
    tls_key: Annotated[Path | None, Option(help="PEM file of its key.", envvar="SINEMORA_GATEWAY_TLS_KEY")] = None,
    ca_file: Annotated[
        Path | None,
        Option(help="PEM file of further authorities to trust.", envvar="SINEMORA_GATEWAY_CA_FILE"),
    ] = None,
    insecure_http: Annotated[
        bool,
        Option(
            "--insecure-http",
            help="Allow plain HTTP from and to other machines.",
            envvar="SINEMORA_GATEWAY_INSECURE_HTTP",
        ),
    ] = False,
) -> None:
    """Run an ingest gateway near agents: it forwards their requests and can queue their reports on disk."""
    try:
        host, port = listen_of(listen)
        options = Options(
            host=host,
            port=port,
            backend=backend_of(backend, insecure_http=insecure_http),
            directory=directory,
            acknowledge=acknowledge,
            capacity_bytes=capacity_mib * MIB,
            verify_s=verify_s,
            outage_s=3600 * outage_hours,
            tls=tls_of(host, tls_certificate, tls_key, insecure_http=insecure_http),
            ca_file=ca_file,
        )
        from sinemora.operations.gateway import server

        server.run(options)
    except GatewayError as error:
        print(f"sinemora gateway: {error}", file=sys.stderr)
        raise Exit(1) from None
