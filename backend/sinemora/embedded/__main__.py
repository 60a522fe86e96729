"""`python -m sinemora.embedded COMMAND`: the supervisor's commands without the weight of the backend."""

import sys

from sinemora.embedded.commands import main

sys.exit(main())
