"""Whether a program in C can be compiled against librdkafka on this machine."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

_PROGRAM: Final = """
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
int main(void) { return !rd_kafka_version(); }
"""


@cache
def lacking_for_c() -> str | None:
    """Return what is missing, with the command that installs it; None if nothing is."""
    compiler = shutil.which("cc")
    if compiler is None:
        return "a C compiler (cc), for the reproducer in C"
    with TemporaryDirectory() as folder:
        source = Path(folder, "program.c")
        source.write_text(_PROGRAM, encoding="utf-8")
        command = [compiler, "-o", str(source.with_suffix("")), str(source)]
        ran = subprocess.run([*command, "-lrdkafka"], capture_output=True, check=False)
    if ran.returncode == 0:
        return None
    return (
        "librdkafka's headers, for the reproducer in C: apt-get install librdkafka-dev"
    )
