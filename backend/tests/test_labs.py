"""Without its laboratories the product starts: `sinemora.compose` is the only place that lists them."""

import json
import subprocess
import sys

from sinemora import compose

START = """
import json, sys
from sinemora import compose
compose.LABS = ()
from sinemora import cli, main, schedule, tables
main.create_app()
paths = sorted(route.path for router in main.ROUTERS for route in router.routes)
print(json.dumps({
    "labs": [name for name in sys.modules if name.startswith("sinemora.labs")],
    "paths": paths, "tables": sorted(tables.metadata.tables), "commands": sorted(cli.IMPORTED),
}))
"""


def test_the_product_starts_without_laboratories():
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["labs"] == []
    assert "/v1/recommendations" in found["paths"]
    assert not [path for path in found["paths"] if path.startswith(("/v1/simulations", "/v1/advisors/tail"))]
    assert "recommendations" in found["tables"]
    assert set(found["commands"]).isdisjoint(compose.commands())


def test_every_module_that_is_listed_exists():
    for part in ("routes", "models", "jobs"):
        assert list(compose.imported(part))
    assert compose.pages() == ["simulations", "tail-lab"]
