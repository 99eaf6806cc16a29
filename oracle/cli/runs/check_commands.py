"""The command that repeats one check of ``conform``, with the options it was made with.

Options that have their default values are left out.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from conformance.checks import Check, name_of_check
from oracle.cli.options.subjects import MEMORY, SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCommands:
    """Commands by subject and check.

    Attributes
    ----------
    options : mapping of str to str
        How the command line names each subject: ``--client sarama@1.61.1/sticky``.
    algorithm, cooperative, seconds, patient, deterministic, memory, require
        Options of the run.
    """

    options: Mapping[str, str]
    algorithm: str | None
    cooperative: bool
    seconds: float
    patient: bool
    deterministic: bool | None
    memory: int
    require: str

    def __call__(self, subject: str, check: Check) -> str:
        """Return a line for a shell; it writes TAP, with nothing left out."""
        own = " ".join(self._own(subject))
        name = shlex.quote(name_of_check(check))
        return f"assignor-oracle conform {own} --check {name} --tap"

    def _own(self, subject: str) -> Iterator[str]:
        yield self.options[subject]
        if self.cooperative:
            yield "--cooperative"
        if self.algorithm is not None:
            yield f"--as {shlex.quote(self.algorithm)}"
        if self.seconds != SECONDS:
            yield f"--seconds {self.seconds!r}"
        if not self.patient:
            yield "--impatient"
        if self.deterministic is not None:
            yield "--deterministic" if self.deterministic else "--no-deterministic"
        if self.memory != MEMORY:
            yield f"--memory {self.memory}"
        if self.require != "valid":
            yield f"--require {self.require}"
