"""Wire shapes of the delivery log."""

from datetime import datetime
from uuid import UUID

from sinemora.alerts.models import DeliveryState
from sinemora.kit.schemas import Read


class DeliveryRead(Read):
    """One notice to one receiver."""

    id: UUID
    incident_id: UUID | None
    title: str | None
    receiver: str
    about: str
    state: DeliveryState
    attempts: int
    due_at: datetime
    sent_at: datetime | None
    answer: str | None
    created_at: datetime
    held: bool
