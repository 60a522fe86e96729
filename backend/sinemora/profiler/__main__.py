"""`python -m sinemora.profiler` is `sinemora profile` without the rest of the product to load."""

from sinemora.profiler.command import app

app(prog_name="sinemora profile")
