"""The command that repeats one check of ``conform``, with the options it was made with.

Options that have their default values are left out.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from conformance.checks import Check, name_of_check
from oracle.cli.options.conform import ConformOptions
from oracle.cli.options.values import stated_options

_STATED: Final = (
    "cooperative",
    "algorithm",
    "seconds",
    "patient",
    "deterministic",
    "memory",
    "require",
)
"""Options on which the outcome of a check depends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCommands:
    """Commands by subject and check.

    Attributes
    ----------
    options : ConformOptions
        Options of the run.
    subjects : mapping of str to str
        How the command line names each subject: ``--client sarama@1.61.1/sticky``.
    """

    options: ConformOptions
    subjects: Mapping[str, str]

    def __call__(self, subject: str, check: Check) -> str:
        """Return a line for a shell; it writes TAP, with nothing left out."""
        stated = shlex.join(stated_options(self.options, _STATED))
        own = f"{self.subjects[subject]} {stated}".rstrip()
        name = shlex.quote(name_of_check(check))
        return f"assignor-oracle conform {own} --check {name} --tap"
