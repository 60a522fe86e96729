"""Write the first RAM disk of a guest: BusyBox, curl, the kernel's network modules, nothing of the product.

The kernel and its modules are of Debian's package, unpacked by set-up and not installed. A dynamically linked program
comes with its libraries and the loader, as `ldd` lists them.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from laboratory import LabError, tool

DEBIAN = Path(__file__).resolve().parents[2] / ".tools" / "debian"
# Drivers of the guest's network card; what they need comes with them.
MODULES = ("virtio_pci", "virtio_net")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# Process 1. It does what the test writes to the second serial port, line by line; the kernel writes to the first.
_INIT = f"""#!/bin/sh
export PATH={_PATH} HOME=/root
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
for module in {" ".join(MODULES)}; do modprobe -q $module; done
for word in $(cat /proc/cmdline); do
    case $word in
    guest.name=*) hostname "${{word#*=}}" ;;
    guest.address=*) address=${{word#*=}} ;;
    esac
done
ip link set lo up
ip address add "$address" dev eth0
ip link set eth0 up
# Opened once and kept: what arrives at a port that nobody has open is lost.
exec 3<>/dev/ttyS1
stty raw -echo <&3
exec >&3 2>&1
echo ::ready::
while read -r line <&3; do eval "$line"; done
"""
# Images of clouds have it, and their user may become root. Here the shell is root's.
_SUDO = '#!/bin/sh\nexec "$@"\n'


def kernel() -> Path:
    """Return the newest kernel that set-up has unpacked."""
    found = max((DEBIAN / "boot").glob("vmlinuz-*"), default=None, key=lambda path: path.stat().st_mtime)
    if found is None:
        raise LabError("there is no kernel for guests.\nWhat to do: make test-guests brings Debian's")
    return found


def write(image: Path, programs: list[Path]) -> None:
    """Write the RAM disk to `image`, with the libraries of `programs`, which may be installed in the guest later."""
    root = image.with_suffix(".root")
    for folder in ("bin", "sbin", "usr/bin", "usr/sbin", "proc", "sys", "dev", "tmp", "run", "etc", "root", "var/lib"):
        (root / folder).mkdir(parents=True)
    busybox = root / "bin/busybox"
    shutil.copy2(tool("busybox"), busybox)
    for applet in subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split():
        if applet != "busybox":
            (root / "bin" / applet).symlink_to("busybox")
    for name, text in {"init": _INIT, "usr/bin/sudo": _SUDO}.items():
        (root / name).write_text(text, "utf-8")
        (root / name).chmod(0o755)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n", "utf-8")
    curl = Path(tool("curl"))
    shutil.copy2(curl, root / "usr/bin/curl")
    for library in {library for program in (curl, *programs) for library in _libraries(program)}:
        copy = root / library.relative_to("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(library, copy)
    _modules(root)
    names = subprocess.run(["find", "."], cwd=root, capture_output=True, check=True).stdout
    with image.open("wb") as out:
        command = [tool("busybox"), "cpio", "-o", "-H", "newc"]
        subprocess.run(command, cwd=root, input=names, stdout=out, stderr=subprocess.DEVNULL, check=True)
    shutil.rmtree(root)


def _libraries(program: Path) -> set[Path]:
    """Return the shared libraries and the loader that a program needs; none of a static one."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return {Path(path) for path in re.findall(r"(?:=> |^\s*)(/\S+) \(0x", done.stdout, re.MULTILINE)}


def _modules(root: Path) -> None:
    """Copy the drivers of MODULES and all that they need, with the table by which `modprobe` finds them."""
    version = kernel().name.removeprefix("vmlinuz-")
    source = DEBIAN / "lib/modules" / version
    if not (source / "modules.dep").exists():
        subprocess.run([tool("depmod"), "--basedir", DEBIAN, version], check=True)
    needs = dict(line.split(":", 1) for line in (source / "modules.dep").read_text("utf-8").splitlines())
    wanted = [path for path in needs if re.sub(r"\.ko.*", "", os.path.basename(path)).replace("-", "_") in MODULES]
    target = root / "lib/modules" / version
    copied = sorted({part for path in wanted for part in (path, *needs[path].split())})
    for path in copied:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / path, target / path)
    (target / "modules.dep").write_text("".join(f"{path}:{needs[path]}\n" for path in copied), "utf-8")
