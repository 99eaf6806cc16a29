"""Programs as subjects: how a worker starts one, and its name in records."""

from __future__ import annotations

import shlex
import shutil
import sys
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import orjson

from conformance.clients import (
    Adapter,
    Answer,
    ClientAssignor,
    Patience,
    Program,
    Verdict,
    suspecting,
)
from conformance.runs.subject import Subject, WrappedSubject
from rebalance import OutsideError

LIMITED: Final = Path(__file__).with_name("limited.py")
MEMORY: Final = 4 * 2**30
"""Default limit of a program's writable memory, bytes: far more than any needs."""

KEEP: Final = "keep"
"""Argument of Kafka's adapter: keep the leader's assignor between rebalances."""
PYTHON_SEED: Final = "PYTHONHASHSEED"

PROBE: Final = {
    "format": "rebalance/1",
    "group": "probe",
    "topics": {"t": {"partitions": 1}},
    "members": {"m": {"subscription": ["t"]}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class External:
    """A program to test; a picklable value from which each worker starts its own.

    Attributes
    ----------
    program : Program
    seconds : float
        Time after which an answer is slow, including the start of the program.
    patience : Patience
        With an answer that has not come by then.
    memory : int or None
        Limit of its writable memory, bytes (`limited`).
    client : ClientAssignor or None
        The assignor of the registry that it is, if it is one.
    option : str
        How the command line names it: ``--command 'python my.py'``.
    """

    program: Program
    seconds: float
    patience: Patience = field(default_factory=Patience)
    memory: int | None = MEMORY
    client: ClientAssignor | None = None
    option: str

    def start(self) -> Subject:
        """Return the subject; the process starts with its first rebalance."""
        return self._adapter()

    def start_impatient(self, seconds: float) -> Subject:
        """Return the subject with a shorter limit, which excludes its start.

        An answer that takes as long in CPU time, or idly, is a hang. Shrinking a hang
        takes the whole limit for every smaller one that it finds.
        """
        shorter = min(seconds, self.seconds)
        return _Impatient(subject=self._adapter(), seconds=shorter)

    @property
    def can_repeat(self) -> bool:
        """Whether other processes of it can be asked the same."""
        return True

    def start_other(self, hash_seed: int) -> Subject:
        """Return the subject in another process, with a hash seed, and impatient.

        Python and Perl have a variable for it; other runtimes draw their own for each
        process, or have none. An optimum that is late is only not compared.
        """
        hasty = replace(self.patience, is_patient=False)
        other = replace(self, program=self._seeded(hash_seed), patience=hasty)
        return other.start()

    def _seeded(self, hash_seed: int) -> Program:
        """Set the variables, and those that adapters of the registry set themselves."""
        argv = self.program.argv
        if self.client is not None:
            own = f"{PYTHON_SEED}="
            argv = tuple(
                f"{own}{hash_seed}" if word.startswith(own) else word for word in argv
            )
        variables = (
            (PYTHON_SEED, str(hash_seed)),
            ("PERL_HASH_SEED", str(hash_seed)),
            ("PERL_PERTURB_KEYS", "2"),  # as the seed determines
        )
        return replace(self.program, argv=argv, environment=variables)

    def _adapter(self) -> Adapter:
        return Adapter(self._limited(), seconds=self.seconds, patience=self.patience)

    def leading(self) -> External:
        """Return the program with a leader that lives from rebalance to rebalance.

        Kafka's adapter keeps the leader's assignor only if it is asked to. A program of
        another client keeps the behaviour of the client.
        """
        if self.client is None or self.client.kind != "adapter":
            return self
        if self.client.client != "kafka-clients":
            return self
        kept = replace(self.program, argv=(*self.program.argv, KEEP))
        return replace(self, program=kept)

    def check(self) -> None:
        """Send the simplest rebalance: one member, one partition.

        Raises
        ------
        OutsideError
            If the program cannot be started, ends, or does not answer in time.
        """
        try:
            answer = self.probe()
        except OSError as error:
            reason = f"cannot start: {error.strerror}"
            raise OutsideError(f"{self.program.name}: {reason}") from None
        if answer.verdict in {Verdict.CRASH, Verdict.HANG, Verdict.SLOW}:
            reason = f"does not answer the simplest rebalance: {answer.reason}"
            raise OutsideError(f"{self.program.name}: {reason}")

    def probe(self) -> Answer:
        """Return the answer of a process of its own to the simplest rebalance.

        Raises
        ------
        OSError
            If it cannot be started.
        """
        with closing(self.start()) as subject:
            return subject.answer(orjson.dumps(PROBE))

    def _limited(self) -> Program:
        if self.memory is None:
            return self.program
        python = (sys.executable, "-I", "-S", str(LIMITED), str(self.memory))
        return replace(self.program, argv=(*python, *self.program.argv))


@dataclass(slots=True, kw_only=True, eq=False)
class _Impatient(WrappedSubject[Adapter]):
    """An adapter that is started by the simplest rebalance, then asked with a limit."""

    seconds: float
    is_running: bool = False

    def answer(self, rebalance: bytes) -> Answer:
        before = self.subject.seconds, self.subject.patience
        if not self.is_running:
            self.subject.answer(orjson.dumps(PROBE))
        try:
            self.subject.seconds = self.seconds
            self.subject.patience = suspecting(self.seconds)
            answer = self.subject.answer(rebalance)
        finally:
            self.subject.seconds, self.subject.patience = before
        self.is_running = answer.verdict in {Verdict.ANSWERED, Verdict.ERROR}
        return answer


def external_command(
    command: str, *, seconds: float, memory: int | None = MEMORY
) -> External:
    """Return the program that a shell-like command line names.

    Raises
    ------
    OutsideError
        If there is no such program.
    """
    return External(
        program=Program(name=command, argv=words_of(command)),
        seconds=seconds,
        memory=memory,
        option=f"--command {shlex.quote(command)}",
    )


def words_of(command: str) -> tuple[str, ...]:
    """Split a shell-like command line.

    Raises
    ------
    OutsideError
        If its program does not exist.
    """
    try:
        argv = tuple(shlex.split(command))
    except ValueError as error:
        raise OutsideError(f"command {command!r}: {error}") from None
    if not argv or shutil.which(argv[0]) is None:
        raise OutsideError(f"command {command!r}: no such program")
    return argv


def external_client(
    client: ClientAssignor, *, seconds: float, memory: int | None = MEMORY
) -> External:
    """Return the adapter of an assignor of the registry.

    Raises
    ------
    MissingClientError
        If it is not installed on this machine.
    """
    return External(
        program=client.program(),
        seconds=seconds,
        memory=memory,
        client=client,
        option=f"--client {client.spec}",
    )
