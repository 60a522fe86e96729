"""Downloads: the agent's packages and the script that installs them."""

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, Response
from starlette.exceptions import HTTPException

INSTALL_SCRIPT = "install.sh"


def serve_packages(app: FastAPI, folder: Path) -> None:
    """Serve the files of `folder`, but not of its subfolders, under `/packages/`."""
    root = folder.resolve()

    @app.get("/packages/{name}", include_in_schema=False)
    def package(request: Request, name: str) -> Response:
        file = root / name
        if name.startswith(".") or file.resolve().parent != root or not file.is_file():
            raise HTTPException(404)
        kind = "text/plain; charset=utf-8" if file.suffix in (".sh", "") else "application/octet-stream"
        return FileResponse(file, media_type=kind, headers={"Cache-Control": "no-cache"})


def installs(folder: Path | None) -> bool:
    """Return whether `folder` contains the installation script."""
    return folder is not None and (folder / INSTALL_SCRIPT).is_file()
