"""State of the archive, recorded in the product's database for /readyz and /metrics."""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy.exc import SQLAlchemyError

from sinemora.kit import archive_state
from sinemora.kit.config import settings
from sinemora.kit.errors import ProductError


class Recorder:
    """Observer of a `Keeper` that records each pass, where the settings name the product's database."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._is_silent = False

    def passed(self, archived_to: datetime | None, base_taken_at: datetime | None) -> None:
        """Record a pass that succeeded."""
        self._record(lambda: archive_state.record_pass(archived_to, base_taken_at))

    def failed(self, error: str) -> None:
        """Record a pass that failed."""
        self._record(lambda: archive_state.record_failure(error))

    def _record(self, write: Callable[[], None]) -> None:
        if not settings().database_system_url:
            return
        try:
            write()
        except (SQLAlchemyError, ProductError) as error:
            if not self._is_silent:
                reason = str(error).strip().partition("\n")[0]
                self._say(f"The state of the archive cannot be recorded; archiving continues. {reason}")
            self._is_silent = True
        else:
            self._is_silent = False
