"""`sinemora traffic` and `sinemora token-buckets`: traffic of VMs, and the tokens that it leaves."""

from typing import Annotated, Any

from typer import Argument, Option, Typer

from sinemora_client.commands import Terminal, api_command
from sinemora_client.models import Direction, Source

app = Typer(rich_markup_mode=None)
token_buckets = Typer(
    rich_markup_mode=None,
    help="State the token buckets of VMs; show tokens left and when they will be empty (API key).",
)
app.add_typer(token_buckets, name="token-buckets")

Vm = Annotated[str, Argument(help="Name or id of the VM.")]
_MBIT = 1e6


@api_command(app)
def traffic(
    client: Terminal,
    vm: Vm,
    points: Annotated[int, Option(help="Most rows; the newest is last.", min=2, max=1_000)] = 60,
) -> None:
    """Show the traffic of a VM in the last hour (API key). Steps without reports are left out."""
    result = client.get(f"/v1/vms/{client.named('/v1/vms', vm, 'VM')['id']}/traffic", points=points)
    names = ("sent_bit_per_s", "peak_sent_bit_per_s", "received_bit_per_s", "peak_received_bit_per_s")
    rows = [
        (at[:19], *(f"{one[name] / _MBIT:.4g}" for name in names))
        for at, one in (
            (at, {name: result[name][step] for name in names}) for step, at in enumerate(result["points_at"])
        )
        if one["sent_bit_per_s"] is not None
    ]
    client.print_result(result, ("from", "sent Mbit/s", "peak", "received Mbit/s", "peak"), rows)


@api_command(token_buckets, "list")
def list_token_buckets(client: Terminal) -> None:
    """List the token buckets: tokens left, present use, and when they will be empty at this use."""
    buckets = list(client.items("/v1/token-buckets"))
    client.print_result(buckets, _COLUMNS, [_row(bucket) for bucket in buckets])


@api_command(token_buckets, "set")
def set_token_bucket(
    client: Terminal,
    vm: Vm,
    rate_mbit: Annotated[float, Option(help="Refill, Mbit/s.")],
    burst_kb: Annotated[float, Option(help="Depth, 1,000 bytes.")],
    direction: Annotated[Direction, Option(help="Traffic that takes tokens.")] = "sent",
    source: Annotated[Source, Option(help="Origin of rate and depth.")] = "stated",
) -> None:
    """Set the token bucket of a VM, as its provider states it or as `sinemora advise shaping` detected it."""
    body = {"rate_mbit": rate_mbit, "burst_kb": burst_kb, "direction": direction, "source": source}
    bucket = client.read(_path(client, vm), body, method="PUT")
    client.print_result(bucket, _COLUMNS, [_row(bucket)])


@api_command(token_buckets, "delete")
def delete_token_bucket(client: Terminal, vm: Vm) -> None:
    """Delete the token bucket of a VM. Its traffic is still counted."""
    client.read(_path(client, vm), method="DELETE")


_COLUMNS = ("VM", "direction", "Mbit/s", "depth kB", "tokens kB", "use Mbit/s", "empty in")


def _path(client: Terminal, vm: str) -> str:
    return f"/v1/vms/{client.named('/v1/vms', vm, 'VM')['id']}/token-bucket"


def _row(bucket: dict[str, Any]) -> tuple[str, ...]:
    forecast = bucket["forecast"]
    shape = (bucket["vm_name"], bucket["direction"], f"{bucket['rate_mbit']:.4g}", f"{bucket['burst_kb']:.4g}")
    if forecast is None:
        return (*shape, "-", "-", "no traffic reported")
    empty_in_s = forecast["empty_in_s"]
    when = "never at this use" if empty_in_s is None else "empty" if empty_in_s == 0 else f"{empty_in_s:.0f} s"
    return (*shape, f"{forecast['tokens_kb']:.4g}", f"{forecast['use_mbit']:.4g}", when)
