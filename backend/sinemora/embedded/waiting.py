"""`make wait`: returns when every planned path of the demonstration mesh has been measured."""

from sinemora.embedded.data_folder import DataFolder
from sinemora.kit.config import Settings


def wait(settings: Settings, folder: DataFolder) -> int:
    return 0
