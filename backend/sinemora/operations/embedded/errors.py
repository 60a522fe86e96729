"""Error of this package: a problem and advice for the operator."""


class EmbeddedError(Exception):
    """Error for the operator: `what` names the problem, `advice` what to do; one sentence each."""

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(f"{what}\n{advice}")
        self.what = what
        self.advice = advice
