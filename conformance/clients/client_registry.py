"""Assignors of third-party clients, by specification ``NAME[@VERSION][/ASSIGNOR]``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from conformance.clients.declaration import ClientDeclaration, declarations
from conformance.clients.installed import built_command
from conformance.clients.kafka_clients import LINES, installed
from conformance.clients.process import Program
from rebalance import OracleError, OutsideError

GRAMMAR: Final = "NAME[@VERSION][/ASSIGNOR]"


class UnknownClientError(OracleError, ValueError):
    """A specification that names no client, version, or assignor of the registry."""


class MissingClientError(OutsideError):
    """A client that is declared, but not installed on this machine."""

    def __init__(self, client: str, version: str) -> None:
        super().__init__(
            f"{client}@{version} is not installed here: run `make clients`"
        )
        self.client = client
        self.version = version


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAssignor:
    """One assignor of one version of a client.

    Attributes
    ----------
    cooperative : bool
        Whether members keep partitions during a rebalance (KIP-429).
    deterministic : bool
        Whether equal rebalances have equal answers, in every run.
    kind : str
        ``adapter``: `program` answers lines; ``wire``: only an unmodified consumer
        that connects to `conformance.wire` can be tested.
    """

    client: str
    version: str
    assignor: str
    cooperative: bool
    deterministic: bool
    language: str
    kind: Literal["adapter", "wire"] = "adapter"

    @property
    def spec(self) -> str:
        """The full specification, which `client_assignor` accepts."""
        return f"{self.client}@{self.version}/{self.assignor}"

    def program(self) -> Program:
        """Return the adapter around the client's assignor.

        Raises
        ------
        MissingClientError
            If ``make clients`` has not installed this version here.
        UnknownClientError
            If the client has no adapter (``kind`` is ``wire``).
        """
        if self.kind == "wire":
            reason = "has no adapter: it is tested over the wire"
            raise UnknownClientError(f"{self.spec} {reason}")
        client = declaration_of(self.client)
        argument = client.assignors[self.assignor].argument or self.assignor
        if client.build.toolchain == "java":
            kafka = installed(LINES[self.version])
            if kafka is None:
                raise MissingClientError(self.client, self.version)
            return Program(name=self.spec, argv=kafka.program(argument).argv)
        command = built_command(client, self.version)
        if command is None:
            raise MissingClientError(self.client, self.version)
        return Program(name=self.spec, argv=(*command, argument))


def all_client_assignors() -> tuple[ClientAssignor, ...]:
    """Return every assignor of every version of every client, installed or not."""
    return tuple(
        assignor for client in declarations() for assignor in _assignors_of(client)
    )


def matching_client_assignors(spec: str) -> tuple[ClientAssignor, ...]:
    """Return the assignors of a specification: without a name, all of that version.

    Raises
    ------
    UnknownClientError
        If the registry has no such client, version, or assignor.
    """
    name, version, assignor = _parts(spec)
    client = declaration_of(name)
    wanted = version or client.versions[0]
    found = tuple(
        candidate
        for candidate in _assignors_of(client)
        if candidate.version == wanted and assignor in {None, candidate.assignor}
    )
    if not found:
        raise UnknownClientError(_advice(client, wanted, assignor))
    return found


def client_assignor(spec: str) -> ClientAssignor:
    """Return one assignor: by default the newest version's, and the client's default.

    Raises
    ------
    UnknownClientError
        If the registry has no such client, version, or assignor.
    """
    name, version, assignor = _parts(spec)
    client = declaration_of(name)
    wanted = f"{name}@{version or client.versions[0]}/{assignor or client.default}"
    (found,) = matching_client_assignors(wanted)
    return found


def _assignors_of(client: ClientDeclaration) -> Iterator[ClientAssignor]:
    for version in client.versions:
        for name, assignor in client.assignors.items():
            if client.has(version, name):
                yield ClientAssignor(
                    client=client.name,
                    version=version,
                    assignor=name,
                    cooperative=assignor.cooperative,
                    deterministic=assignor.deterministic,
                    language=client.language,
                    kind=client.kind,
                )


def _parts(spec: str) -> tuple[str, str | None, str | None]:
    place, slash, assignor = spec.partition("/")
    name, at, version = place.partition("@")
    if not name or (at and not version) or (slash and not assignor):
        raise UnknownClientError(f"client: {spec!r} is not {GRAMMAR}")
    return name, version or None, assignor or None


def declaration_of(name: str) -> ClientDeclaration:
    """Return the declaration of a client.

    Raises
    ------
    UnknownClientError
        If there is none.
    """
    for client in declarations():
        if client.name == name:
            return client
    known = ", ".join(client.name for client in declarations())
    raise UnknownClientError(f"client: no {name!r}; there are {known}")


def _advice(client: ClientDeclaration, version: str, assignor: str | None) -> str:
    if version not in client.versions:
        known = ", ".join(client.versions)
        return f"client: {client.name} has no version {version!r}, but {known}"
    known = ", ".join(name for name in client.assignors if client.has(version, name))
    return f"client: {client.name}@{version} has no {assignor!r}, but {known}"
