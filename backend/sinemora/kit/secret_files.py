"""Secrets of the settings that are read from files: `SINEMORA_…_FILE` names the file of `SINEMORA_…`.

A secret in a file is visible neither to `docker inspect` nor in the environment of a process.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource
from pydantic_settings.sources import EnvSettingsSource

SUFFIX = "_file"
_LARGEST_BYTES = 64 * 1024


class SecretFileError(Exception):
    """File that contains no usable secret; the message gives the reason and never content."""


def read(path: Path) -> str:
    """Return the secret in a file, without line breaks at its end. Raises `SecretFileError`."""
    try:
        if path.is_dir():
            # Docker creates a folder where the file of a bind mount does not exist.
            raise SecretFileError("is a folder; it should be a file that contains the secret and nothing else")
        with path.open("rb") as file:
            content = file.read(_LARGEST_BYTES + 1)
    except OSError as error:
        raise SecretFileError(
            f"cannot be read by the user {_user()}: {error.strerror or error}; it should be a file with the secret"
        ) from None
    if len(content) > _LARGEST_BYTES:
        raise SecretFileError(f"is longer than {_LARGEST_BYTES:,} bytes; it should contain the secret and nothing else")
    try:
        secret = content.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise SecretFileError("is not text (UTF-8); it should contain the secret and nothing else") from None
    if not secret.strip():
        raise SecretFileError("is empty; it should contain the secret")
    if "\n" in secret or "\0" in secret:
        raise SecretFileError("has several lines or a zero byte; it should contain the secret on one line")
    return secret


class SecretFiles(PydanticBaseSettingsSource):
    """Source of settings whose values are in files.

    It looks at the given sources of variables, the first one first: a value or a named file in one hides both of the
    next. A source that has both is refused. Raises `ValidationError` with every problem it finds.
    """

    def __init__(
        self, settings: type[BaseSettings], secrets: Iterable[str], *variables: PydanticBaseSettingsSource
    ) -> None:
        super().__init__(settings)
        self._prefix = str(settings.model_config.get("env_prefix", "")).lower()
        self._secrets = sorted(secrets)
        self._variables = [source.env_vars for source in variables if isinstance(source, EnvSettingsSource)]

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Return the value of one field, its name, and that it is not JSON."""
        return self._value(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        """Return the settings that were read from files."""
        values, problems = {}, self._misnamed()
        for name in self._secrets:
            try:
                value = self._value(name)
            except _Refused as refused:
                problems.append(refused.details)
                continue
            if value is not None:
                values[name] = value
        if problems:
            raise ValidationError.from_exception_data(self.settings_cls.__name__, problems)
        return values

    def _value(self, name: str) -> str | None:
        """Return the content of the file that is named for a setting, None if there is none."""
        for variables in self._variables:
            path = variables.get(self._prefix + name + SUFFIX)
            if variables.get(self._prefix + name):
                if path:
                    raise _Refused(name, path, f"{self._variable(name)} is set too; set only one of the two")
                return None
            if path:
                try:
                    return read(Path(path))
                except SecretFileError as error:
                    raise _Refused(name, path, str(error)) from None
        return None

    def _misnamed(self) -> list[InitErrorDetails]:
        """Return a problem for each file that is named for a setting that is no secret: it would not be read."""
        open_settings = set(self.settings_cls.model_fields) - set(self._secrets)
        return [
            _Refused(name, path, f"{self._variable(name)} is not read from a file; set it itself").details
            for variables in self._variables
            for name in sorted(open_settings)
            if name + SUFFIX not in open_settings and (path := variables.get(self._prefix + name + SUFFIX))
        ]

    def _variable(self, name: str) -> str:
        return (self._prefix + name).upper()


class _Refused(Exception):
    def __init__(self, name: str, path: str, reason: str) -> None:
        super().__init__(reason)
        problem = PydanticCustomError("secret_file", "{reason}", {"reason": reason})
        self.details = InitErrorDetails(type=problem, loc=(name + SUFFIX,), input=path)


def forget(variables: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return environment variables without some secrets, whether they are values or name files."""
    hidden = {name + suffix for name in names for suffix in ("", SUFFIX.upper())}
    return {name: value for name, value in variables.items() if name not in hidden}


def _user() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # a container's user often has no name
        return str(os.geteuid())
