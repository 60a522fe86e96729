"""All operations of the API that a key may call.

Generated from the contract by `make gen`; do not edit.
"""

from sinemora_client.operations.advisors import AdvisorsOperations
from sinemora_client.operations.agents import AgentsOperations
from sinemora_client.operations.alerts import AlertsOperations
from sinemora_client.operations.annotations import AnnotationsOperations
from sinemora_client.operations.api_keys import ApiKeysOperations
from sinemora_client.operations.applications import ApplicationsOperations
from sinemora_client.operations.artifacts import ArtifactsOperations
from sinemora_client.operations.audit import AuditOperations
from sinemora_client.operations.auth import AuthOperations
from sinemora_client.operations.curves import CurvesOperations
from sinemora_client.operations.demonstration import DemonstrationOperations
from sinemora_client.operations.embed_links import EmbedLinksOperations
from sinemora_client.operations.enrolment import EnrolmentOperations
from sinemora_client.operations.jobs import JobsOperations
from sinemora_client.operations.learning import LearningOperations
from sinemora_client.operations.measurements import MeasurementsOperations
from sinemora_client.operations.members import MembersOperations
from sinemora_client.operations.meshes import MeshesOperations
from sinemora_client.operations.overview import OverviewOperations
from sinemora_client.operations.pins import PinsOperations
from sinemora_client.operations.recommendations import RecommendationsOperations
from sinemora_client.operations.saved_views import SavedViewsOperations
from sinemora_client.operations.scenarios import ScenariosOperations
from sinemora_client.operations.simulations import SimulationsOperations
from sinemora_client.operations.tenants import TenantsOperations
from sinemora_client.operations.vms import VmsOperations
from sinemora_client.operations.zones import ZonesOperations


class Operations(
    AdvisorsOperations,
    AgentsOperations,
    AlertsOperations,
    AnnotationsOperations,
    ApiKeysOperations,
    ApplicationsOperations,
    ArtifactsOperations,
    AuditOperations,
    AuthOperations,
    CurvesOperations,
    DemonstrationOperations,
    EmbedLinksOperations,
    EnrolmentOperations,
    JobsOperations,
    LearningOperations,
    MeasurementsOperations,
    MembersOperations,
    MeshesOperations,
    OverviewOperations,
    PinsOperations,
    RecommendationsOperations,
    SavedViewsOperations,
    ScenariosOperations,
    SimulationsOperations,
    TenantsOperations,
    VmsOperations,
    ZonesOperations,
):
    """All operations of the API that a key may call."""
