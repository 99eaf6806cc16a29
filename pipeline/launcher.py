"""Launcher script for Spark's Java that removes some of Spark's arguments."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
import tempfile
from pathlib import Path

from conformance.java import LEAST_VERSION, JavaRuntime
from rebalance import OutsideError, private_folder

LEFT_OUT = {
    "--add-modules=jdk.incubator.vector": LEAST_VERSION,
    "--add-opens=java.base/sun.security.action=ALL-UNNAMED": 24,
}
"""Arguments of Spark that Java does not receive, each from this version on.

The wheel's runtime lacks the first one's module and would not start; others warn of
it on the terminal, and only linear algebra would use it. The second one's package is
gone from newer versions, which warn of that too."""


def launch_home(runtime: JavaRuntime) -> Path:
    """Return a home for Spark's launcher, whose ``java`` removes some arguments.

    It is a folder of this Python environment, one per runtime, where the set-up writes
    it; if it is not there and cannot be written there, as in an installation of another
    user, it is a private temporary one.

    Raises
    ------
    OutsideError
        If neither folder can be written to.
    """
    text = _launcher(runtime)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    name = f"{runtime.version}-{digest}"
    home = Path(sys.prefix) / "java" / name
    try:
        return _written(home, text)
    except OSError as error:
        reason = error
    try:
        return _written(private_folder() / "java" / name, text)
    except OSError as error:
        raise OutsideError(
            f"cannot write Spark's launcher: {reason}; nor a temporary one: {error}"
        ) from error


def _written(home: Path, text: str) -> Path:
    """Return a home, after its script was written if there is none."""
    script = home / "bin" / "java"
    if not script.exists():
        script.parent.mkdir(parents=True, exist_ok=True)
        _write_program(script, text)
    return home


def _launcher(runtime: JavaRuntime) -> str:
    """Return a script that calls ``java`` with all other arguments."""
    dropped = [word for word, since in LEFT_OUT.items() if runtime.major >= since]
    java = shlex.quote(str(runtime.home / "bin" / "java"))
    return (
        "#!/bin/sh\n"
        'for word do shift; case "$word" in\n'
        f"  {' | '.join(dropped)}) ;;\n"
        '  *) set -- "$@" "$word" ;;\n'
        "esac; done\n"
        f'exec {java} "$@"\n'
    )


def _write_program(target: Path, text: str) -> None:
    """Write an executable file atomically: several sessions can start at once."""
    handle, partial_file = tempfile.mkstemp(dir=target.parent, prefix=".java-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(partial_file).chmod(0o755)
    Path(partial_file).replace(target)
