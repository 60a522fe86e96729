"""Files to be fetched by machines: the agent's packages and the script that installs them."""

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, Response
from starlette.exceptions import HTTPException

INSTALL_SCRIPT = "install.sh"


def serve_packages(app: FastAPI, folder: Path) -> None:
    """Serve the files of `folder` under `/packages/`, none below it."""
    root = folder.resolve()

    @app.api_route("/packages/{name}", methods=["GET", "HEAD"], include_in_schema=False)
    def package(request: Request, name: str) -> Response:
        wanted = root / name
        if name.startswith(".") or wanted.resolve().parent != root or not wanted.is_file():
            raise HTTPException(404)
        kind = "text/plain; charset=utf-8" if wanted.suffix in (".sh", "") else "application/octet-stream"
        return FileResponse(wanted, media_type=kind, headers={"Cache-Control": "no-cache"})


def installs(folder: Path | None) -> bool:
    """Return whether there is something to install from."""
    return folder is not None and (folder / INSTALL_SCRIPT).is_file()
