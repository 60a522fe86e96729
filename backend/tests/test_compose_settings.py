"""The production stack hands every setting on: one forgotten in docker-compose.yml could not be changed there."""

import re
from pathlib import Path

from sinemora.kit.config import Settings

STACK = Path(__file__).resolve().parents[2] / "docker-compose.yml"

# Settled by the images and the stack itself, or meant for the embedded default only.
SETTLED = {
    "worker_pulse_file",
    "data_dir",
    "demo_agents",
    "demo_story",
    "frontend_dir",
    "owner_email",
    "owner_password",
    "service_user",
}


def test_every_setting_reaches_the_stack() -> None:
    handed_on = {name.lower() for name in re.findall(r"^ +SINEMORA_(\w+):", STACK.read_text(), re.MULTILINE)}
    assert set(Settings.model_fields) - SETTLED <= handed_on
