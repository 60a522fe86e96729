"""`python -m lab.incidents`: writes synthetic meshes with known truth into a file."""

from lab.incidents.command import app

if __name__ == "__main__":
    app(prog_name="python -m lab.incidents")
