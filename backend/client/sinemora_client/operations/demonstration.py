"""Operations with the tag `demonstration`.

Generated from the contract by `make gen`; do not edit.
"""


from sinemora_client import models
from sinemora_client.calls import Calls


class DemonstrationOperations(Calls):
    """Operations with the tag `demonstration`."""

    def read_demonstration(self) -> models.DemonstrationRead:
        """Return what the demonstration of `make up` plays at this moment.

        GET /v1/demonstration, role viewer.
        """
        answer: models.DemonstrationRead = self._json("GET", "/v1/demonstration")
        return answer

