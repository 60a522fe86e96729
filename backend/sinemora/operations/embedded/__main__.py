"""`python -m sinemora.operations.embedded COMMAND`: commands of the supervisor, without loading the backend."""

from sinemora.operations.embedded.commands import app

app(prog_name="sinemora")
