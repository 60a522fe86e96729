"""Run Schemathesis against a separate product that has an object of each kind: `python -m lab.conformance`.

    python -m lab.conformance                        about half a minute; more of all with SEEDS=all
    python -m lab.conformance --only '/v1/zones'     the operations whose path has this text
    python -m lab.conformance --examples 50          more requests of the fuzzing phase for an operation

The exit code is that of Schemathesis: 1 when a check failed.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lab.benchmarks.figures import comment
from lab.benchmarks.securing.in_process import started
from lab.benchmarks.securing.tenant import eventful, furnished, known_ids, measured
from lab.benchmarks.storing.product import running, session_of
from sinemora.access.tenants.models import Role
from sinemora.kit import redis as kit_redis
from sinemora.kit.celery import celery
from sinemora.kit.config import settings
from sinemora.main import create_app

CONFIG = Path(__file__).with_name("schemathesis.toml")
TIME_LIMIT_S = 600
ALL = os.environ.get("SEEDS") == "all"


def main() -> int:
    """Start a product, fill it, run Schemathesis; return its exit code."""
    options = _options()
    began = time.monotonic()
    with running(
        # Limits of rates have tests of their own.
        anonymous_limit_per_minute="1000000000",
        agent_reports_per_minute="1000000000",
        # Without a port: cookies then have the names of the contract.
        public_url="http://127.0.0.1",
    ) as product:
        world = product.world("contract", 4)
        eventful(product, world, measured(product, world))
        celery.conf.update(broker_url=kit_redis.broker_url(settings().redis_url))
        app = create_app()
        contract = app.openapi()
        owner = session_of(product.tenant_id, Role.owner)

        async def fill() -> dict[str, list[str]]:
            async with started(app) as api:
                await furnished(api, contract, owner, world)
                return await known_ids(api, contract, owner)

        known = asyncio.run(fill())
        comment(f"product ready after {time.monotonic() - began:.0f} s; ids of {len(known)} kinds")
        folder = product.log.parent
        # For the hooks, which Schemathesis imports in a separate process.
        given = {"tenant_id": str(product.tenant_id), "agent_credential": world.credentials[0], "known": known}
        (folder / "given.json").write_text(json.dumps(given), "utf-8")
        (folder / "openapi.json").write_text(json.dumps(contract), "utf-8")
        shared = [
            str(Path(sys.executable).with_name("schemathesis")),
            f"--config-file={CONFIG}",
            "run",
            str(folder / "openapi.json"),
            f"--url={product.url('')}",
            f"--max-examples={options.examples}",
            *([f"--include-path-regex={re.escape(options.only)}"] if options.only else []),
        ]
        env = os.environ | {
            "SCHEMATHESIS_HOOKS": "lab.conformance.hooks",
            "SINEMORA_CONFORMANCE": str(folder / "given.json"),
        }
        code = 0
        for phases, names in _runs(contract, options):
            command = [*shared, f"--phases={phases}", *(f"--include-name={name}" for name in names)]
            ended = subprocess.run(command, cwd=folder, env=env, timeout=TIME_LIMIT_S, check=False)
            code = code or ended.returncode
        log = product.log.read_text("utf-8", errors="replace")
        if "Traceback" in log:
            comment(f"the log of the API has tracebacks:\n{log[-6000:]}")
    comment(f"{datetime.now(UTC):%H:%M:%S}, {time.monotonic() - began:.0f} s")
    return code


def _runs(contract: dict[str, Any], options: argparse.Namespace) -> list[tuple[str, list[str]]]:
    """Return the phases of each run of Schemathesis with the operations it is limited to; all without names.

    The coverage phase sends about 45 requests for an operation, so it takes every `share`-th operation. The examples
    are recorded answers, which tests compare with the contract already: they are sent with SEEDS=all.
    """
    names = [f"{method.upper()} {path}" for path, item in contract["paths"].items() for method in item]
    covered = [] if options.only else names[:: options.share]
    return [("fuzzing,examples" if ALL else "fuzzing", []), ("coverage", covered)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="text that the path of an operation must have")
    parser.add_argument(
        "--examples", type=int, default=4 if ALL else 1, help="requests for an operation in the fuzzing phase"
    )
    parser.add_argument(
        "--share", type=int, default=16 if ALL else 32, help="the coverage phase takes one operation in this many"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
