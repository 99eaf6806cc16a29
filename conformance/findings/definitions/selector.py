"""Selectors: which outcomes of which assignors belong to a finding."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from conformance.runs.run_records import CategoryName
from conformance.shapes import SHAPES
from conformance.strict_model import StrictModel


def _known_shapes(names: tuple[str, ...]) -> tuple[str, ...]:
    if unknown := [name for name in names if name not in SHAPES]:
        raise ValueError(f"no shape {unknown[0]!r}")
    return names


_Shapes = Annotated[tuple[str, ...], Field(strict=False), AfterValidator(_known_shapes)]
_Patterns = Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
_EVERY = ("*",)


class Selector(StrictModel):
    """Patterns (`fnmatch`); an outcome is selected if each key has one that matches.

    Attributes
    ----------
    clients, assignors, versions
        Of the subject.
    categories
        Categories of outcomes (`conformance.runs.Category`).
    details
        Distinction of outcomes of one category: the rule, exception, or signal.
    families
        Families of draws; ``file`` are instances that were given.
    shapes, without
        Shapes that the smallest instance has, and that it does not have.
    """

    clients: _Patterns
    assignors: _Patterns = _EVERY
    versions: _Patterns = _EVERY
    categories: Annotated[tuple[CategoryName, ...], Field(min_length=1, strict=False)]
    details: _Patterns = _EVERY
    families: _Patterns = _EVERY
    shapes: _Shapes = ()
    without: _Shapes = ()

    def is_about(self, client: str, version: str, assignor: str) -> bool:
        """Return whether it can select outcomes of an assignor."""
        return (
            _any_matches(self.clients, client)
            and _any_matches(self.versions, version)
            and _any_matches(self.assignors, assignor)
        )

    def selects(
        self, category: str, detail: str, family: str, instance: Mapping[str, Any]
    ) -> bool:
        """Return whether it selects an outcome of an assignor that it is about."""
        return (
            category in self.categories
            and _any_matches(self.details, detail)
            and _any_matches(self.families, family)
            and all(SHAPES[name](instance) for name in self.shapes)
            and not any(SHAPES[name](instance) for name in self.without)
        )


def _any_matches(patterns: tuple[str, ...], text: str) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)
