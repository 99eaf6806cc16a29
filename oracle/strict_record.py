"""Base of the records of documents: explanation/1, plan/1, diff/1, audit-summary/2."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class StrictRecord(BaseModel):
    """A strict record; unknown keys are errors."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )

    @classmethod
    def known(cls, **fields: Any) -> Self:
        """Return the record; fields that are None are absent."""
        given = {name: field for name, field in fields.items() if field is not None}
        return cls.model_validate(given)

    def to_document(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return self.model_dump(by_alias=True, exclude_none=True)
