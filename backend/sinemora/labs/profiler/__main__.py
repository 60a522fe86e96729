"""`python -m sinemora.labs.profiler` is `sinemora profile` without the rest of the product to load."""

from sinemora.labs.profiler.command import app

app(prog_name="sinemora profile")
