"""Types of the part of google-re2 that is used."""

from typing import AnyStr, Generic

class error(Exception): ...

class Options:
    log_errors: bool
    max_mem: int

class _Match(Generic[AnyStr]): ...

class _Regexp(Generic[AnyStr]):
    def fullmatch(self, text: AnyStr) -> _Match[AnyStr] | None: ...

def compile(pattern: AnyStr, options: Options | None = ...) -> _Regexp[AnyStr]: ...
