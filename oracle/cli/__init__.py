"""The command line, ``assignor-oracle``."""

from oracle.cli.run import main

__all__ = ["main"]
