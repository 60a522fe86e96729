"""`python -m sinemora.simulation` is `sinemora simulate` without the rest of the product to load."""

from sinemora.simulation.command import app

app(prog_name="sinemora simulate")
