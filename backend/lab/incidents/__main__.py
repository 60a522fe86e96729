"""`python -m lab.incidents`: synthetic meshes with known truth, as a file."""

from lab.incidents.command import app

if __name__ == "__main__":
    app(prog_name="python -m lab.incidents")
