"""The command line, ``assignor-oracle``."""

from oracle.cli.invocation import main

__all__ = ["main"]
