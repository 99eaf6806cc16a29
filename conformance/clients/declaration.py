"""Declarations of third-party clients: one ``client.toml`` per folder.

The folder's name is the client's. A declaration states the versions, the assignors and
their properties, and the parts that `tools.clients` builds.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from conformance.strict_model import StrictModel, model_of_toml

FOLDER: Final = Path(__file__).parent
FILE: Final = "client.toml"

Toolchain = Literal["java", "go", "node", "python", "none"]


class DeclaredAssignor(StrictModel):
    """An assignor of a client.

    Attributes
    ----------
    cooperative
        Whether members keep partitions during a rebalance (KIP-429).
    deterministic
        Whether equal rebalances have equal answers, in every run.
    argument
        Its name for the adapter; absent: the name in the declaration.
    versions
        The client's versions that have it; absent: all.
    """

    cooperative: bool = False
    deterministic: bool = False
    argument: str | None = None
    versions: tuple[str, ...] | None = Field(default=None, strict=False)


class Build(StrictModel):
    """How a client is built and started.

    Attributes
    ----------
    toolchain
        Program that builds it: ``java`` is built by
        `conformance.clients.kafka_clients`, ``none`` has nothing to build.
    sources
        Files of the adapter, relative to the folder of the client.
    program
        The file to start, of the interpreted languages.
    package
        Name of the client in its registry.
    """

    toolchain: Toolchain
    sources: tuple[str, ...] = Field(default=(), strict=False)
    program: str | None = None
    package: str | None = None


class ClientDeclaration(StrictModel):
    """A client: its language, how it is reached, its versions and assignors.

    Attributes
    ----------
    versions
        Newest first; a version has its lock files in ``versions/VERSION``.
    default
        The assignor that a specification without one names.
    """

    name: str
    language: str
    kind: Literal["adapter", "wire"]
    versions: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    default: str
    build: Build
    assignors: Annotated[dict[str, DeclaredAssignor], Field(min_length=1)]

    @model_validator(mode="after")
    def _check(self) -> ClientDeclaration:
        if self.default not in self.assignors:
            raise ValueError(f"default: no assignor {self.default!r}")
        for name, assignor in self.assignors.items():
            if unknown := set(assignor.versions or ()) - set(self.versions):
                raise ValueError(f"assignors.{name}: no version {min(unknown)!r}")
        return self

    @property
    def folder(self) -> Path:
        """Folder of the client's adapter and lock files."""
        return FOLDER / self.name

    def has(self, version: str, assignor: str) -> bool:
        """Return whether a version of the client has an assignor."""
        one = self.assignors.get(assignor)
        known = one is not None and (one.versions is None or version in one.versions)
        return known and version in self.versions


@cache
def declarations() -> tuple[ClientDeclaration, ...]:
    """Return the declarations of all clients, by name.

    Raises
    ------
    OutsideError
        If a ``client.toml`` is not a declaration.
    """
    return tuple(
        read_declaration(path.read_text("utf-8"), name=path.parent.name)
        for path in sorted(FOLDER.glob(f"*/{FILE}"))
    )


def read_declaration(text: str, *, name: str) -> ClientDeclaration:
    """Parse the text of a ``client.toml``.

    Raises
    ------
    OutsideError
        If it is not a declaration; the message names the client and the key.
    """
    file = f"{name}/{FILE}"
    return model_of_toml(ClientDeclaration, text, file=file, stated={"name": name})
