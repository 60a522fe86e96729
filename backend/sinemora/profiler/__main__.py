"""`python -m sinemora.profiler` is `sinemora profile` without the rest of the product to load."""

import argparse
import sys

from sinemora.profiler import command


def main() -> int:
    """Run it; the exit code is that of `sinemora profile`."""
    parser = argparse.ArgumentParser(prog="sinemora")
    command.add(parser.add_subparsers(required=True, metavar="COMMAND"))
    options = parser.parse_args(["profile", *sys.argv[1:]])
    return int(options.run(options))


if __name__ == "__main__":
    sys.exit(main())
