"""`python -m sinemora.simulation` is `sinemora simulate` without the rest of the product to load."""

import argparse
import sys

from sinemora.simulation import command


def main() -> int:
    """Run it; the exit code is that of `sinemora simulate`."""
    parser = argparse.ArgumentParser(prog="sinemora")
    command.add(parser.add_subparsers(required=True, metavar="COMMAND"))
    options = parser.parse_args(["simulate", *sys.argv[1:]])
    return int(options.run(options))


if __name__ == "__main__":
    sys.exit(main())
