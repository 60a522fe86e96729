"""The generated protobuf module is what `make gen` writes from the agent's contract."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]
MODULE = ROOT / "backend/sinemora/measurements/ingest"


def test_the_protobuf_module_is_up_to_date(tmp_path):
    proto = ROOT / "agent/wire/proto"
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{proto}", "agent.proto"]
    subprocess.run([*command, f"--python_out={tmp_path}", f"--pyi_out={tmp_path}"], check=True, timeout=60)
    for name in ("agent_pb2.py", "agent_pb2.pyi"):
        assert (tmp_path / name).read_text() == (MODULE / name).read_text(), "run `make gen`"
