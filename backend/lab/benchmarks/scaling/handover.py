"""Hand-over of connections: the proxy and the API are replaced while agents open a connection for every report."""

import signal
import time

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.benchmarks.scaling import entrance
from lab.benchmarks.scaling.fleet import Fleet, Record, lost
from lab.benchmarks.scaling.rolling import while_replaced
from lab.benchmarks.storing.product import Product

SENDERS = 25
"""Behind the entrance, and as many that connect to the API itself, as with `make up`."""
EVERY_S = 0.1
TIMES = 8
KILLS = 2
PAUSE_S = 3.0


def hand_over(product: Product) -> None:
    """Replace the proxy and the API in turn, then kill the proxy, while two fleets report over new connections."""
    behind, direct = product.world("handover", SENDERS), product.world("direct", SENDERS)
    newest_s = int(time.time()) - 600
    with entrance.running(product.port) as stand:
        fleets = [
            (behind, Fleet(stand.port, behind, EVERY_S, newest_s, reconnect=True).start()),
            (direct, Fleet(product.port, direct, EVERY_S, newest_s, reconnect=True).start()),
        ]
        for turn in range(TIMES):
            time.sleep(PAUSE_S)
            stand.replace_proxy()
            if turn % 4 == 0:
                time.sleep(PAUSE_S)
                product.api.send_signal(signal.SIGHUP)
                while_replaced(product)
        time.sleep(PAUSE_S)
        records = [fleet.stop() for _, fleet in fleets]
        _report(records, sum(len(lost(fleet.record, world)) for world, fleet in fleets))
        _crashes(stand, Fleet(stand.port, behind, EVERY_S, newest_s - 200_000, reconnect=True))


def _report(records: list[Record], missing: int) -> None:
    acknowledged = sum(len(record.acknowledged) for record in records)
    figures.report("scale_handover_refused_connections", sum(record.refused_connections for record in records))
    figures.report("scale_handover_lost_reports", missing, acknowledged=acknowledged)
    figures.report("scale_handover_broken_connections", sum(record.broken_connections for record in records))
    figures.report("scale_handover_slowest_report_s", max(record.slowest_s for record in records))
    again = sum(record.sent_again for record in records)
    refused = sum(record.refused_reports for record in records)
    comment(f"{acknowledged} reports, each over a new connection; {again} sent again, {refused} answered with an error")


def _crashes(stand: entrance.Stand, fleet: Fleet) -> None:
    """Kill the proxy, start it again as its engine does, and count the refused connections: new ones wait."""
    fleet.start()
    for _ in range(KILLS):
        time.sleep(PAUSE_S)
        stand.kill_proxy()
        stand.start_proxy()
    time.sleep(PAUSE_S)
    record = fleet.stop()
    figures.report(
        "scale_handover_crash_refused_connections", record.refused_connections, broken=record.broken_connections
    )
