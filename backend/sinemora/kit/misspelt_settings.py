"""Variables that are almost the name of a setting: ignored, a retention of 30 days would be one of 3.

Other programs have variables that begin in this way too, such as the agent and a company's scripts, so only a name near
a setting is refused.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource
from pydantic_settings.sources import EnvSettingsSource

from sinemora.kit.secret_files import SUFFIX

_NEAR = 0.83
"""Ratio of `difflib`: a name without its unit is nearer (`retention_raw`), names of other programs are farther."""
_LONGEST = 100


class MisspeltSettings(PydanticBaseSettingsSource):
    """Source without values. Raises `ValidationError` with each variable that is near a setting and is none."""

    def __init__(
        self, settings: type[BaseSettings], secrets: Iterable[str], *variables: PydanticBaseSettingsSource
    ) -> None:
        super().__init__(settings)
        self._prefix = str(settings.model_config.get("env_prefix", "")).lower()
        self._known = {*settings.model_fields, *(name + SUFFIX for name in secrets)}
        self._variables = [source.env_vars for source in variables if isinstance(source, EnvSettingsSource)]

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Return no value."""
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return no values."""
        written = {name.lower() for variables in self._variables for name, value in variables.items() if value}
        names = sorted(name.removeprefix(self._prefix) for name in written if name.startswith(self._prefix))
        if problems := [problem for name in names if (problem := self._problem(name))]:
            raise ValidationError.from_exception_data(self.settings_cls.__name__, problems)
        return {}

    def _problem(self, name: str) -> InitErrorDetails | None:
        # A file named for a setting that is no secret has its own refusal.
        if name in self._known or name.removesuffix(SUFFIX) in self._known or len(name) > _LONGEST:
            return None
        if not (near := get_close_matches(name, self._known, n=1, cutoff=_NEAR)):
            return None
        message = f"{self._variable(name)} is not a setting; did you mean {self._variable(near[0])}?"
        # Without the value, which may be a secret.
        return InitErrorDetails(type=PydanticCustomError("misspelt", "{message}", {"message": message}), input=None)

    def _variable(self, name: str) -> str:
        return (self._prefix + name).upper()
