"""Subset of PromQL for plots: selectors, aggregation by labels, arithmetic. Pure.

    sinemora_zone_delay_seconds{mesh="demo",quantile="0.99"} * 1e3
    max by (source_zone) (sinemora_zone_loss_ratio)

An expression is evaluated at one time; `fetch` returns the samples of a selector at that time. Unsupported syntax
(functions, ranges in brackets, offsets, comparisons) raises an error with its position.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import re2

_REGEX_OPTIONS = re2.Options()
_REGEX_OPTIONS.log_errors = False
_REGEX_OPTIONS.max_mem = 1 << 20  # bytes of a compiled expression; `((a{1,99}){1,99})` is refused

Labels = tuple[tuple[str, str], ...]  # sorted by name; "__name__" is the metric's
Vector = dict[Labels, float]
NAME = "__name__"
LENGTH_MAX = 65_536
"""Characters of an expression."""
OPERANDS_MAX = 1_000
"""Selectors and numbers of an expression."""
DEPTH_MAX = 100
"""Parentheses, aggregations and signs inside one another."""


class PromQlError(ValueError):
    """Invalid or unsupported expression; the message names the part and its position."""


@lru_cache(maxsize=256)
def _regex(text: str) -> "re2._Regexp[str]":
    # RE2, as in Prometheus: the time is linear in the length of the label. Python's `re` may take exponential time.
    return re2.compile(text, _REGEX_OPTIONS)


def _reason(error: re2.error) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)


@dataclass(frozen=True)
class Matcher:
    """Condition on a label: `=`, `!=`, `=~`, `!~`."""

    label: str
    operator: str
    value: str

    def fits(self, labels: Mapping[str, str]) -> bool:
        """Return whether these labels match; a missing label is empty, as in Prometheus."""
        actual = labels.get(self.label, "")
        if self.operator in ("=", "!="):
            return (actual == self.value) == (self.operator == "=")
        return (_regex(self.value).fullmatch(actual) is not None) == (self.operator == "=~")


@dataclass(frozen=True)
class Selector:
    """Series by name and labels."""

    matchers: tuple[Matcher, ...]

    def fits(self, labels: Mapping[str, str]) -> bool:
        """Return whether a series with these labels is selected."""
        return all(matcher.fits(labels) for matcher in self.matchers)

    def value_of(self, label: str) -> str | None:
        """Return the value that a label must equal, if there is such a condition."""
        return next(
            (matcher.value for matcher in self.matchers if matcher.label == label and matcher.operator == "="), None
        )


@dataclass(frozen=True)
class Number:
    """A scalar."""

    value: float


@dataclass(frozen=True)
class Aggregation:
    """`sum`, `avg`, `min`, `max` or `count` over groups of series."""

    operator: str
    of: "Expression"
    labels: tuple[str, ...]
    without: bool


@dataclass(frozen=True)
class Binary:
    """Two operands with + - * /; series pair up by all their labels but the name."""

    operator: str
    left: "Expression"
    right: "Expression"


Expression = Selector | Number | Aggregation | Binary
Fetch = Callable[[Selector], Vector]

_AGGREGATIONS: dict[str, Callable[[list[float]], float]] = {
    "sum": math.fsum,
    "avg": lambda values: math.fsum(values) / len(values),
    "min": min,
    "max": max,
    "count": lambda values: float(len(values)),
}
_TOKEN = re.compile(
    r"""\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![a-zA-Z_])
    |(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)
    |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<sign>=~|!~|!=|=|[(){},+\-*/]))""",
    re.VERBOSE,
)


def parse(expression: str) -> Expression:
    """Parse an expression. Raises PromQlError."""
    return _Parser(expression).whole()


def selectors(expression: Expression) -> Iterator[Selector]:
    """Yield all selectors in an expression."""
    waiting = [expression]
    while waiting:
        match waiting.pop():
            case Selector() as selector:
                yield selector
            case Aggregation(of=of):
                waiting.append(of)
            case Binary(left=left, right=right):
                waiting += [right, left]


def evaluate(expression: Expression, fetch: Fetch) -> Vector | float:
    """Return the value of an expression at the time of `fetch`. Raises PromQlError."""
    match expression:
        case Number(value=value):
            return value
        case Selector():
            return fetch(expression)
        case Aggregation():
            return _aggregate(expression, evaluate(expression.of, fetch))
        case Binary():
            # A sum of many terms is as deep on its left as it has terms.
            operations: list[Binary] = []
            first: Expression = expression
            while isinstance(first, Binary):
                operations.append(first)
                first = first.left
            result = evaluate(first, fetch)
            for operation in reversed(operations):
                result = _combine(operation, result, evaluate(operation.right, fetch))
            return result


def _aggregate(aggregation: Aggregation, of: Vector | float) -> Vector:
    if isinstance(of, float):
        raise PromQlError(f"{aggregation.operator} takes series, not a number")
    groups: dict[Labels, list[float]] = {}
    for labels, value in of.items():
        omitted = (
            {NAME, *aggregation.labels}
            if aggregation.without
            else {name for name, _ in labels} - set(aggregation.labels)
        )
        groups.setdefault(tuple(label for label in labels if label[0] not in omitted), []).append(value)
    return {labels: _AGGREGATIONS[aggregation.operator](values) for labels, values in groups.items()}


def _combine(binary: Binary, left: Vector | float, right: Vector | float) -> Vector | float:
    if isinstance(left, float) and isinstance(right, float):
        return _calculate(binary.operator, left, right)
    if isinstance(left, float):
        assert not isinstance(right, float)
        return {_nameless(labels): _calculate(binary.operator, left, value) for labels, value in right.items()}
    if isinstance(right, float):
        return {_nameless(labels): _calculate(binary.operator, value, right) for labels, value in left.items()}
    other = {_nameless(labels): value for labels, value in right.items()}
    return {
        key: _calculate(binary.operator, value, other[key])
        for labels, value in left.items()
        if (key := _nameless(labels)) in other
    }


def _calculate(operator: str, left: float, right: float) -> float:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
    if right:
        return left / right
    return math.nan if left == 0 or math.isnan(left) else math.copysign(math.inf, left)


def _nameless(labels: Labels) -> Labels:
    return tuple(label for label in labels if label[0] != NAME)


class _Parser:
    def __init__(self, text: str) -> None:
        if len(text) > LENGTH_MAX:
            raise PromQlError(f"the expression has {len(text)} characters, more than {LENGTH_MAX}")
        text = text.rstrip()
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if not match:
                rest = text[at:].lstrip()
                raise PromQlError(f"unsupported syntax at character {len(text) - len(rest)}: {rest[:20]!r}")
            self.tokens.append((str(match.lastgroup), match[str(match.lastgroup)], match.start(str(match.lastgroup))))
            at = match.end()
        self.at = self.depth = self.operands = 0

    def whole(self) -> Expression:
        expression = self._sum()
        if self.at < len(self.tokens):
            raise self._unexpected()
        return expression

    def _sum(self) -> Expression:
        left = self._product()
        while self._is("+", "-"):
            left = Binary(self._take(), left, self._product())
        return left

    def _product(self) -> Expression:
        left = self._signed()
        while self._is("*", "/"):
            left = Binary(self._take(), left, self._signed())
        return left

    def _signed(self) -> Expression:
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise PromQlError(f"more than {DEPTH_MAX} parts inside one another at character {self._peek()[2]}")
        if self._is("-", "+"):
            sign = self._take()
            inner: Expression = Binary("*", Number(-1.0 if sign == "-" else 1.0), self._signed())
        else:
            inner = self._primary()
        self.depth -= 1
        return inner

    def _primary(self) -> Expression:
        kind, word, at = self._peek()
        self.operands += kind == "number" or (kind == "name" and word not in _AGGREGATIONS) or self._is("{")
        if self.operands > OPERANDS_MAX:
            raise PromQlError(f"more than {OPERANDS_MAX} selectors and numbers, at character {at}")
        if kind == "number":
            self._take()
            return Number(float(word))
        if self._is("("):
            self._take()
            inner = self._sum()
            self._expect(")")
            return inner
        if kind == "name" and word in _AGGREGATIONS:
            return self._aggregation()
        if kind == "name" or self._is("{"):
            return self._selector()
        raise self._unexpected()

    def _aggregation(self) -> Expression:
        operator = self._take()
        grouping = self._grouping()
        self._expect("(")
        of = self._sum()
        self._expect(")")
        labels, without = grouping or self._grouping() or ((), False)
        return Aggregation(operator, of, labels, without)

    def _grouping(self) -> tuple[tuple[str, ...], bool] | None:
        if self._peek()[1] not in ("by", "without"):
            return None
        without = self._take() == "without"
        self._expect("(")
        labels = []
        while not self._is(")"):
            labels.append(self._of("name"))
            if not self._is(")"):
                self._expect(",")
        self._expect(")")
        return tuple(labels), without

    def _selector(self) -> Selector:
        matchers = []
        if self._peek()[0] == "name":
            matchers.append(Matcher(NAME, "=", self._take()))
            if self._is("("):
                raise PromQlError(f"unsupported function: {matchers[0].value}")
        if self._is("{"):
            self._take()
            while not self._is("}"):
                label = self._of("name")
                if not self._is("=", "!=", "=~", "!~"):
                    raise self._unexpected()
                operator = self._take()
                value = re.sub(r"\\(.)", r"\1", self._of("string")[1:-1])
                if operator.endswith("~"):
                    try:
                        _regex(value)
                    except re2.error as error:
                        raise PromQlError(f"invalid regular expression {value!r}: {_reason(error)}") from None
                matchers.append(Matcher(label, operator, value))
                if not self._is("}"):
                    self._expect(",")
            self._expect("}")
        return Selector(tuple(matchers))

    def _peek(self) -> tuple[str, str, int]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "", -1)

    def _is(self, *signs: str) -> bool:
        kind, word, _ = self._peek()
        return kind == "sign" and word in signs

    def _take(self) -> str:
        word = self._peek()[1]
        self.at += 1
        return word

    def _of(self, kind: str) -> str:
        if self._peek()[0] != kind:
            raise self._unexpected()
        return self._take()

    def _expect(self, sign: str) -> None:
        if not self._is(sign):
            raise self._unexpected()
        self._take()

    def _unexpected(self) -> PromQlError:
        kind, word, at = self._peek()
        return PromQlError(
            "unexpected end of the expression" if kind == "end" else f"unexpected {word!r} at character {at}"
        )
