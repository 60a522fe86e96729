"""`python -m sinemora.labs.simulation` is `sinemora simulate` without the rest of the product to load."""

from sinemora.labs.simulation.command import app

app(prog_name="sinemora simulate")
