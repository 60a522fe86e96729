"""Parameters of the published policy, as a recommendation and a simulation take them."""

from typing import Annotated

from pydantic import Field

from sinemora.kit.schemas import Write
from sinemora.recommendations.placement.problem import WAITING_COST

Amount = Annotated[float, Field(ge=0, le=1e9)]


class PublishedParameters(Write):
    """Parameters of the published policy: thresholds of preference, and costs of waiting and of preemption.

    Costs are points: 100 divided by the predicted performance, so 105 is a loss of 5 percent (Popescu,
    UCAM-CL-TR-937, section 6.3).
    """

    p_m: Annotated[int, Field(ge=0, le=1_000_000, description="Cost up to which a machine is preferred")] = 105
    p_r: Annotated[int, Field(ge=0, le=1_000_000, description="Cost up to which a rack is preferred")] = 110
    omega: Annotated[Amount, Field(description="Cost of a waiting task per second (omega)")] = 0.0
    gamma: Annotated[int, Field(ge=WAITING_COST, le=1_000_000_000, description="Cost of a waiting task (gamma)")] = (
        WAITING_COST
    )
    beta: Annotated[Amount, Field(description="Discount of a task's machine per second of its run (beta)")] = 0.0
