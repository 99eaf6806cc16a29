"""The command line, ``assignor-oracle``."""

from oracle.cli.invocation import main, run

__all__ = ["main", "run"]
