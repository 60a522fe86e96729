"""The start of processes: the collector rests while modules are imported, and slow libraries are left for later."""

import subprocess
import sys


def test_workers_collect_once_they_are_imported_and_no_process_imports_slow_libraries() -> None:
    """Collections during the import, of three generations, are those of what precedes it.

    What few requests need is imported where it is used, since its import costs each process. The supervisor starts
    before there is a backend.
    """
    program = (
        "import sys, sinemora.operations.embedded.commands\n"
        "assert not {'sqlalchemy', 'fastapi', 'numpy'} & set(sys.modules), 'the supervisor'\n"
        "import gc, celery; gc.collect()\n"
        "before = [one['collections'] for one in gc.get_stats()]\n"
        "import sinemora.worker\n"
        "assert gc.isenabled()\n"
        "print(sum(one['collections'] for one in gc.get_stats()) - sum(before))\n"
        "import sinemora.main\n"
        "slow = {'obstore', 'pyarrow', 'pandas', 'scipy.optimize', 'scipy.special', 'matplotlib'}\n"
        "assert not slow & set(sys.modules), 'API and worker'"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) <= 2  # hundreds without the pause
