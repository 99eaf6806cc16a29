"""Write the archive of Spark's classes by a small audit (`pipeline.class_archive`)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from conformance.java import java_home
from pipeline.class_archive import write_class_archive

ROOT: Final = Path(__file__).resolve().parent.parent
AUDITED: Final = ROOT / "recordings" / "first-look"
SECONDS: Final = 600.0
VARIABLE: Final = "SPARK_SUBMIT_OPTS"  # Spark's own, for options of the driver's Java


def audit_with(options: str) -> None:
    """Audit the smallest recording in a process of its own, until its Java has ended.

    Raises
    ------
    subprocess.SubprocessError
        If the audit fails or takes longer than `SECONDS`.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "oracle", "audit", str(AUDITED)]
        command += ["--out", str(Path(folder) / "audit"), "--assignors", "optimum"]
        subprocess.run(
            [*command, "--master", "local[2]"],
            cwd=ROOT,
            env=os.environ | {VARIABLE: options},
            capture_output=True,  # Java holds the pipes until it has ended
            check=True,
            timeout=SECONDS,
        )


def main() -> int:
    """Write the archive and print its path; with 1 if there is none, the reason."""
    try:
        print(write_class_archive(java_home(), audit_with))
    except (OSError, subprocess.SubprocessError) as error:
        print(f"Spark will start without an archive of its classes: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
