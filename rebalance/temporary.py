"""A temporary folder for files that this user's programs load and execute again."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

_OTHERS_CAN_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


def private_folder() -> Path:
    """Return a folder in the temporary one that only this user can write to.

    Its name is the same in every process, so that it serves the next one, too. Any user
    can create a folder of that name first: its contents would be executed as this user,
    and it is rejected.

    Raises
    ------
    OSError
        If it cannot be created, or if another user can write to it.
    """
    user = os.geteuid()
    folder = Path(tempfile.gettempdir()) / f"assignor-oracle-{user}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if (
        not stat.S_ISDIR(found.st_mode)
        or found.st_uid != user
        or found.st_mode & _OTHERS_CAN_WRITE
    ):
        raise PermissionError(f"another user can write to {folder}")
    return folder
