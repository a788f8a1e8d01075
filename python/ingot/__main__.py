"""python -m ingot: the program 'ingot'."""
import sys

from . import _ingot


def main() -> int:
    """Takes over the process, as the program would."""
    return _ingot.main(["ingot", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
