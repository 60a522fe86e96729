"""HTTP of measurements: reports of agents, matrices, paths, live streams."""

from fastapi import APIRouter, Request, Response

from sinemora.inventory.agents import AgentDep, AgentSignedIn
from sinemora.kit.errors import responses
from sinemora.measurements.report import JSON, PROTOBUF

agent_router = APIRouter(
    prefix="/v1/agents/self", dependencies=[AgentSignedIn], tags=["agent protocol"], responses=responses(401)
)

_REPORT_BODY = {
    "requestBody": {
        "required": True,
        "description": "`Report` of agent/wire/proto/agent.proto, also with `Content-Encoding: zstd`.",
        "content": {
            PROTOBUF: {"schema": {"type": "string", "format": "binary"}},
            JSON: {"schema": {"type": "object", "description": "protobuf's JSON mapping of `Report`"}},
        },
    }
}


@agent_router.post(
    "/reports",
    status_code=204,
    openapi_extra=_REPORT_BODY,
    response_class=Response,
    responses={
        **responses(404, 413, 415, 422, 429, 503),
        204: {
            "description": "Committed. A window already stored is acknowledged again.",
            "headers": {
                "Sinemora-Skipped-Windows": {
                    "description": "Windows not stored: their mesh is gone, or they are older than what is kept.",
                    "schema": {"type": "integer"},
                }
            },
        },
    },
)
async def create_report(request: Request, agent: AgentDep) -> Response:
    """Store what an agent measured; answers once it is committed."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = request.headers.get("content-encoding", "").strip().lower()
    skipped = await request.app.state.ingest.take(agent, await request.body(), media_type, encoding)
    headers = {"Sinemora-Skipped-Windows": str(skipped)} if skipped else None
    return Response(status_code=204, headers=headers)
