"""Search of the α of the best figure, by Bayesian optimisation.

The library is Optuna (tree-structured Parzen estimator); the source used a Gaussian process, names no kernel and no
scaling, and leaves the range unbounded. Here α is searched in its logarithm; 0 and infinity, which are FCFS and LAS or
SRPT, are always evaluated. All evaluations see the same flows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sinemora.labs.tail_lab.core.policies import ALPHA_MAX
from sinemora.labs.tail_lab.core.summary import Figures, TailFigure, gain_percent

LOG10_RANGE = (-3.0, 3.0)
"""Range of log10 α: the finite best values of the source are 0.0014 to 638."""
EVALUATIONS_MIN, EVALUATIONS_MAX = 5, 96
_STARTUP = 7
_EXCESS_PRICE = 5.0
"""Percentage points of gain that one point of the mean beyond its limit is worth to the search."""


@dataclass(frozen=True, slots=True)
class AlphaEvaluation:
    """Figures at one α. `gain`: of the objective against the baseline, percent; `mean_loss`: rise of the mean, percent.

    `allowed` is false where the mean rises more than the search permits.
    """

    alpha: float
    figures: Figures
    gain: float
    mean_loss: float
    allowed: bool


@dataclass(frozen=True, slots=True)
class Goal:
    """Figure that a search minimises, its baseline, and the allowed rise of the mean, percent (None: any)."""

    objective: TailFigure
    baseline: Figures
    mean_loss_max: float | None = None

    def judge(self, alpha: float, figures: Figures) -> AlphaEvaluation:
        mean_loss = -gain_percent(self.baseline.mean, figures.mean)
        gain = gain_percent(self.baseline.of(self.objective), figures.of(self.objective))
        return AlphaEvaluation(
            alpha, figures, gain, mean_loss, self.mean_loss_max is None or mean_loss <= self.mean_loss_max
        )


def search(
    goal: Goal, evaluate: Callable[[float, int], Figures], evaluations: int, seed: int
) -> Iterator[AlphaEvaluation]:
    """Yield one evaluation after another. `evaluate` gets α and the number of evaluations before."""
    import optuna  # only jobs of the tail lab need it

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    for number, alpha in enumerate((ALPHA_MAX, 0.0)):
        yield goal.judge(alpha, evaluate(alpha, number))
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=_STARTUP)
    study = optuna.create_study(sampler=sampler)
    for number in range(2, evaluations):
        trial = study.ask()
        alpha = 10 ** trial.suggest_float("log10_alpha", *LOG10_RANGE)
        judged = goal.judge(alpha, evaluate(alpha, number))
        study.tell(trial, _loss(goal, judged))
        yield judged


def best_of(evaluations: list[AlphaEvaluation]) -> AlphaEvaluation:
    """Return the best permitted evaluation; without any, the one whose mean rises least."""
    allowed = [each for each in evaluations if each.allowed]
    if allowed:
        return max(allowed, key=lambda each: each.gain)
    return min(evaluations, key=lambda each: each.mean_loss)


def _loss(goal: Goal, judged: AlphaEvaluation) -> float:
    # The estimator ranks evaluations: one that is not permitted by little is near the best permitted ones.
    excess = 0.0 if goal.mean_loss_max is None else max(0.0, judged.mean_loss - goal.mean_loss_max)
    return _EXCESS_PRICE * excess - judged.gain
