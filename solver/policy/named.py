"""The named policies, from the table ``named.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from solver.policy.definition import Policy
from solver.policy.parser import PolicyReader

_TABLE: Final = tomllib.loads(
    Path(__file__).with_name("named.toml").read_text(encoding="utf-8")
)

NAMED: Final[Mapping[str, Policy]] = MappingProxyType(
    {name: PolicyReader(row["policy"], {}).policy() for name, row in _TABLE.items()}
)

OPTIMA: Final[Mapping[str, str]] = MappingProxyType(
    {name: row["optimum"] for name, row in _TABLE.items()}
)
"""The objectives of each named policy, in one line."""

STICKY: Final = NAMED["sticky"]
"""The policy of the exact core: the best balance, and the fewest moves to it."""


def parse_policy(text: str) -> Policy:
    """Parse the text form of a policy, or the name of one.

    Raises
    ------
    PolicyError
        If it is neither; carries the word and its position.
    """
    return PolicyReader(text, NAMED).policy()
