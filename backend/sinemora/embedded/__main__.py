"""`python -m sinemora.embedded COMMAND`: commands of the supervisor, without loading the backend."""

from sinemora.embedded.commands import app

app(prog_name="sinemora")
