"""Lists the targets of the Makefile in their groups, from the `##@` and `##` comments."""

import re
import sys
from pathlib import Path


def main(makefiles: list[str]) -> None:
    """Print every documented target of `makefiles`."""
    print("Sinemora: the network between your machines, in each direction.\n\nmake TARGET, where TARGET is one of")
    for line in (line for name in makefiles for line in Path(name).read_text("utf-8").splitlines()):
        if line.startswith("##@ "):
            print(f"\n{line[4:]}")
        elif found := re.match(r"([a-z0-9-]+):.*?## (.*)", line):
            print(f"  {found[1]:<21}  {found[2]}")
    print("\nNew here? make up, then open the address it prints. Settings: .env.example")


if __name__ == "__main__":
    main(sys.argv[1:])
