"""Models of records and of declarations, which reject whatever they do not know."""

from __future__ import annotations

import tomllib
from typing import Annotated, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rebalance import OutsideError

Day: TypeAlias = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
"""A day, ISO 8601."""


class StrictModel(BaseModel):
    """A frozen model that converts no values and has no further keys."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


_Model = TypeVar("_Model", bound=StrictModel)


def model_of_toml(
    kind: type[_Model],
    text: str,
    *,
    file: str,
    stated: dict[str, str],
) -> _Model:
    """Parse a declaration; ``stated`` has the values that its file's name states.

    Raises
    ------
    OutsideError
        If it is not a declaration of this kind; the message has the file and the key.
    """
    try:
        return kind.model_validate(stated | tomllib.loads(text))
    except ValidationError as invalid:
        first = invalid.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        place = f"{file}: {key}" if key else file
        raise OutsideError(f"{place}: {first['msg']}") from None
    except tomllib.TOMLDecodeError as invalid:
        raise OutsideError(f"{file}: {invalid}") from None
