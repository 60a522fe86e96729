"""`python -m sinemora.embedded COMMAND`: the supervisor's commands without the weight of the backend."""

from sinemora.embedded.commands import app

app(prog_name="sinemora")
