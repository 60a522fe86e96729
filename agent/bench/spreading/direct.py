"""Direct copy: rsync from the VM that holds a file, without encryption and compression."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from laboratory import wait_until
from spreading.cloud import Cloud, Vm

_CONFIGURATION = """uid = root
gid = root
use chroot = no
[files]
path = {folder}
read only = yes
"""


def _is_up(log: Path) -> bool:
    return log.exists() and "listening on port" in log.read_text()


class Direct:
    """A daemon on every VM that serves the files it holds."""

    def __init__(self, cloud: Cloud) -> None:
        self.lab = cloud.lab
        self._copies = 0
        for vm in cloud.vms:
            self.folder(vm).mkdir()
            configuration = self.lab.folder / f"rsyncd-{vm.name}.conf"
            configuration.write_text(_CONFIGURATION.format(folder=self.folder(vm)), "utf-8")
            log = self.lab.folder / f"rsyncd-{vm.name}.log"
            command = ["rsync", "--daemon", "--no-detach", f"--config={configuration}", f"--log-file={log}"]
            vm.host.serve([*command, f"--address={vm.host.address}"], "rsyncd")
            wait_until("rsync", partial(_is_up, log))

    def folder(self, vm: Vm) -> Path:
        """Return the folder of the files that a VM holds."""
        return self.lab.folder / f"files-{vm.name}"

    def hold(self, vm: Vm, file: Path) -> None:
        """Give a VM a file to serve."""
        (self.folder(vm) / file.name).hardlink_to(file)

    def copy(self, wanted: Sequence[tuple[str, Vm, Vm]]) -> list[float]:
        """Copy files: name, holder, target. Return the time of each from the begin, s.

        All targets copy at the same time, each its files one after the other, as agents do.
        """
        self._copies += 1
        target_of: dict[str, list[int]] = {}
        for at, (_, _, target) in enumerate(wanted):
            target_of.setdefault(target.name, []).append(at)
        took = [0.0] * len(wanted)
        began = time.monotonic()

        def work(places: list[int]) -> None:
            for at in places:
                name, holder, target = wanted[at]
                into = self.lab.folder / f"copy-{self._copies}-{target.name}"
                into.mkdir(exist_ok=True)
                target.host.run("rsync", "--whole-file", f"rsync://{holder.host.address}/files/{name}", f"{into}/")
                took[at] = time.monotonic() - began

        with ThreadPoolExecutor(len(target_of)) as pool:
            for done in [pool.submit(work, places) for places in target_of.values()]:
                done.result()
        return took
