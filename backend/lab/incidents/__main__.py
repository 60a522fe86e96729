"""`python -m lab.incidents`: synthetic meshes with known truth, as a file."""

import sys

from lab.incidents.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
