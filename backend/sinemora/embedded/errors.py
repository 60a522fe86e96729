"""The one error of this package: what went wrong, and what the person at the terminal can do about it."""


class TroubleError(Exception):
    """Something the operator must hear about.

    `what` is one sentence about the state of things, `advice` one about the way out.
    """

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(f"{what}\n{advice}")
        self.what = what
        self.advice = advice
