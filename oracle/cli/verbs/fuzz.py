"""``fuzz``: test an assignor on random rebalances."""

from __future__ import annotations

from oracle.cli.options.fuzz import FuzzOptions


def fuzz(options: FuzzOptions) -> None:
    """Test an assignor on random rebalances, and judge every answer.

    Each answer is checked for validity, for safety across cooperative rounds, for
    balance, and for needless moves, and repeated by another process; a crash or a hang
    costs one rebalance. Writes, as they are found, one finding/1 per kind of outcome
    that is not optimal, with its shrunk instance, and one run/1 per family and
    assignor. Exit code 1 if an outcome does not meet --require, or if answers of an
    assignor that is declared deterministic differ.

    Example: assignor-oracle fuzz --command 'python my_assignor.py' --seed 1
    """
    from oracle.cli.runs.fuzz import fuzz_all

    fuzz_all(options)
