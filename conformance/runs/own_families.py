"""Families by name: those of `families`, and a user's own as ``MODULE:FUNCTION``.

The function takes a `random.Random` and returns a rebalance/1 document. It is imported
from the working directory or from installed packages, by every process that draws.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, Final

from conformance.runs.families import FAMILIES, Family, always
from rebalance import DocumentError, OracleError, plain_of, rebalance_of

Document = dict[str, Any]

FORM: Final = re.compile(
    r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<function>[^\W\d]\w*)"
)


class UnknownFamilyError(OracleError, ValueError):
    """A name that no family has, or a function that cannot be imported."""


class OwnDrawError(OracleError, ValueError):
    """A draw of a user's own family that raised, or that is not a rebalance/1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFamily(Family):
    """A family of the user, whose draws are checked."""

    def first(self, seed: int, index: int) -> Document:
        """Return the rebalance of a draw.

        Raises
        ------
        OwnDrawError
            If the function raised, or if its result is not a rebalance/1.
        """
        try:
            return Family.first(self, seed, index)
        except OwnDrawError as error:
            place = f"family {self.name!r}, seed {seed}, draw {index}"
            raise OwnDrawError(f"{place}: {error}") from error.__cause__


def family_of(name: str) -> Family:
    """Return the family of a name, or the user's own of ``MODULE:FUNCTION``.

    Raises
    ------
    UnknownFamilyError
        If there is no such family, module, or function.
    """
    found = FAMILIES.get(name)
    return _own_family(name) if found is None else found


def check_family(name: str, *, seed: int, index: int) -> None:
    """Check that a family exists, and that its first draw can be repeated.

    Raises
    ------
    UnknownFamilyError
        If there is no such family, module, or function.
    OwnDrawError
        If the draw of a user's own family fails, or if the same seed draws something
        else the second time.
    """
    family = family_of(name)
    if isinstance(family, OwnFamily) and (
        family.first(seed, index) != family.first(seed, index)
    ):
        raise OwnDrawError(
            f"family {name!r}, seed {seed}, draw {index}: two draws with equal random "
            "numbers differ; draw from the argument only"
        )


@cache
def _own_family(name: str) -> OwnFamily:
    stated = FORM.fullmatch(name)
    if stated is None:
        known = ", ".join(FAMILIES)
        raise UnknownFamilyError(
            f"no family {name!r}; there are {known}; or MODULE:FUNCTION"
        )
    module = _imported(name, stated["module"])
    draw = getattr(module, stated["function"], None)
    if not callable(draw):
        what = "no function" if draw is None else "no function, but another value,"
        raise UnknownFamilyError(
            f"family {name!r}: {what} {stated['function']!r} in {module.__file__}"
        )
    return OwnFamily(name=name, idea=_idea_of(draw), configure=always(_checked(draw)))


def _checked(draw: Callable[[Random], object]) -> Callable[[Random], Document]:
    """Return a function whose documents are valid, and whose errors have one class."""

    def checked(rng: Random) -> Document:
        try:
            drawn = draw(rng)
        except Exception as error:
            raise OwnDrawError(f"raised {_in_words(error)}") from error
        if not isinstance(drawn, dict):
            reason = f"a {type(drawn).__name__} is not a rebalance/1 document"
            raise OwnDrawError(reason)
        try:
            return plain_of(rebalance_of(drawn))
        except DocumentError as error:
            raise OwnDrawError(str(error)) from None

    return checked


def _imported(name: str, module: str) -> ModuleType:
    """Import a module as ``python -m`` would: the working directory comes first."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise _not_imported(name, module, error) from error
        reason = f"no module {error.name!r} in the working directory or installed"
        raise UnknownFamilyError(f"family {name!r}: {reason}") from None
    except (Exception, SystemExit) as error:
        raise _not_imported(name, module, error) from error


def _not_imported(name: str, module: str, error: BaseException) -> UnknownFamilyError:
    reason = f"the import of {module} raised {_in_words(error)}"
    return UnknownFamilyError(f"family {name!r}: {reason}")


def _in_words(error: BaseException) -> str:
    said = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _idea_of(draw: object) -> str:
    return (getattr(draw, "__doc__", None) or "").strip().partition("\n")[0]
