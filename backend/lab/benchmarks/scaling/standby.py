"""Promotion under load: the primary dies with its disk, its synchronous standby takes over, the API follows."""

import os
import shutil
import tempfile
import time
from pathlib import Path

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.benchmarks.scaling.fleet import Fleet, lost
from lab.benchmarks.storing.product import Product, read_settings_again
from lab.standby import Standby, kill
from sinemora.kit.db import dispose

SENDERS = 20
LOAD_S = 20.0
DETECTED_S = 2.0
"""Time until someone decides on the promotion, s; not part of the printed duration."""


def promote(product: Product) -> None:
    """Kill the primary under load, promote the standby, and count the acknowledged windows that it lacks."""
    world = product.world("standby", SENDERS)
    with tempfile.TemporaryDirectory(prefix="sinemora-bench-standby-") as name:
        Path(name).chmod(0o711)
        standby = Standby(product.postgres, Path(name) / "standby")
        standby.start()
        try:
            os.environ |= standby.addresses()
            dispose()
            read_settings_again()
            product.restart()
            fleet = Fleet(product.port, world).start()
            time.sleep(LOAD_S)
            kill(product.postgres)
            killed_at = time.time()
            shutil.rmtree(product.postgres.cluster)
            time.sleep(DETECTED_S)
            began = time.time()
            standby.promote()
            time.sleep(LOAD_S)
            record = fleet.stop()
            before = [window for window, at in record.acknowledged.items() if at <= killed_at]
            first = min((at for at in record.acknowledged.values() if at > began), default=None)
            product.get(f"/v1/meshes/{world.mesh_id}/matrix")
            missing = lost(record, world)
            counts = {"acknowledged": len(record.acknowledged), "before_the_kill": len(before)}
            comment(f"{counts}, {len(missing)} lost; {record.sent_again} reports were sent again")
            figures.report("scale_promotion_lost_windows", len(missing), **counts)
            if first is None:
                raise RuntimeError("no report was acknowledged after the promotion")
            figures.report("scale_promotion_s", first - began)
        finally:
            dispose()
            product.stop()
            standby.stop()
