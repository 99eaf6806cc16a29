"""Environments next to ``.venv``, of locks of their own, made by the installer."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from tools.installer import Installer, uv_program

ROOT = Path(__file__).resolve().parent.parent
MARK = "made-from"


def side_environment(
    venv: Path, lock: Path, arguments: Sequence[str] = (), *, is_overlay: bool = False
) -> Installer:
    """Install the packages of a lock into ``venv``, unless they are there.

    An overlay also finds the packages of the present environment, after its own.

    Raises
    ------
    SetUpError
        If the packages cannot be installed.
    """
    identity = f"{sys.version}{venv}{arguments}".encode() + lock.read_bytes()
    digest = hashlib.sha256(identity).hexdigest()
    installer, mark = Installer(venv), venv / MARK
    if mark.exists() and mark.read_text(encoding="utf-8") == digest:
        return installer
    shutil.rmtree(venv, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    if is_overlay:
        (packages,) = venv.glob("lib/python*/site-packages")
        below = sysconfig.get_path("purelib")
        (packages / "overlay.pth").write_text(f"{below}\n", encoding="utf-8")
    known = uv_program(ROOT / ".venv")
    if known.exists():  # the one that set-up has fetched
        (venv / "uv").symlink_to(known.parents[1])
    installer.install_locked([lock], arguments)
    installer.clean()
    mark.write_text(digest, encoding="utf-8")
    return installer
