"""The collector rests while modules are imported, and then works again."""

import subprocess
import sys


def test_workers_collect_once_they_are_imported() -> None:
    """Collections during the import, of three generations, are those of what precedes it.

    What reads and writes objects of a storage is imported where one is asked for: its start costs each process.
    """
    program = (
        "import gc, celery; gc.collect()\n"
        "before = [one['collections'] for one in gc.get_stats()]\n"
        "import sinemora.worker\n"
        "assert gc.isenabled()\n"
        "print(sum(one['collections'] for one in gc.get_stats()) - sum(before))\n"
        "import sys, sinemora.main\n"
        "assert not {'obstore', 'pyarrow'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) <= 2  # hundreds without the pause
