"""``python -m tools.clients [NAME...]``: install clients, by default all of them."""

from __future__ import annotations

import argparse
import sys

from conformance.clients.declaration import declarations
from tools.clients.install import install_clients


def main() -> int:
    """Install; the exit code is 1 if a client could not be installed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    known = [client.name for client in declarations()]
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    names = parser.parse_args().names
    if unknown := set(names) - set(known):
        parser.error(f"no client {min(unknown)!r}; there are {', '.join(known)}")
    failed = install_clients(names or None)
    if failed:
        print(f"clients: not installed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
