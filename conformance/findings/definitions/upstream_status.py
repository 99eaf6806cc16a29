"""Upstream facts on a finding: threads, statuses of clients, and repairs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from conformance.strict_model import Day, StrictModel

Status = Literal["open", "fixed", "by-design", "withdrawn"]


class Thread(StrictModel):
    """A public thread about the same mechanism, and its statement."""

    url: Annotated[str, Field(pattern=r"^https://")]
    says: str


class Searched(StrictModel):
    """A search of the trackers for threads about a finding.

    Attributes
    ----------
    date
        ISO 8601.
    note
        Questions that the search leaves open; may be empty.
    """

    date: Day
    note: str = ""


class ClientStatus(StrictModel):
    """Status of a finding for one client.

    Attributes
    ----------
    first_fixed
        The first version without the finding, if the status is ``fixed``.
    note
        How this is known.
    url
        The statement or the change.
    """

    client: str
    status: Status
    first_fixed: str | None = None
    note: str
    url: Annotated[str, Field(pattern=r"^https://")] | None = None

    @model_validator(mode="after")
    def _check(self) -> ClientStatus:
        if (self.status == "fixed") != (self.first_fixed is not None):
            raise ValueError("first_fixed belongs to the status 'fixed'")
        if self.status in {"fixed", "by-design"} and self.url is None:
            raise ValueError(f"status {self.status!r} needs the url of its statement")
        return self


class Repair(StrictModel):
    """A repair of a line or two that is suggested to the maintainers of clients.

    Attributes
    ----------
    code
        The line as it should be.
    """

    clients: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    text: str
    code: str
