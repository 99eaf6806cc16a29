"""Write requirements/*.lock: hashes of every file, for all systems and Pythons.

The runtime of the checkout is the base with the extras ``programs`` and ``audit``.
There is one resolution (``dev.lock``), and the other locks are parts of it, so that all
have the same versions; packages that are installed apart are resolved apart: uv, the
oldest Spark, toolchains, partners of tests, and each version of a client in Python.
Locked versions change only if another version is required or ``--upgrade`` is given.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tools.installer import SetUpError
from tools.side_environment import side_environment
from tools.uv_settings import pip_settings, uv_environment

OLDEST_PYTHON = "3.11"

ROOT = Path(__file__).resolve().parent.parent
HOME_OF_UV = ROOT / "build" / "uv"
PYTHON_OF_UV = HOME_OF_UV / "bin" / "python"
DEV = "requirements/dev.lock"
DOCS = "requirements/docs.lock"
UV = "requirements/uv.lock"
OLDEST_SPARK = "requirements/spark-4.0.lock"
GO = "requirements/go.lock"
NODE = "requirements/node.lock"
RECIPES = "requirements/recipes.lock"

LOCKS = {
    DEV: [
        "pyproject.toml",
        "--all-extras",
        "--group",
        "dev",
        "requirements/build.in",
    ],
    "requirements/runtime.lock": [
        "pyproject.toml",
        "--extra",
        "programs",
        "--extra",
        "audit",
        "--constraints",
        DEV,
    ],
    "requirements/build.lock": ["requirements/build.in", "--constraints", DEV],
    "requirements/kernel-packages.lock": [
        "requirements/kernel-packages.in",
        "--constraints",
        DEV,
    ],
    "requirements/workers.lock": ["requirements/workers.in", "--constraints", DEV],
    DOCS: ["requirements/docs.in", "--constraints", DEV],
    OLDEST_SPARK: ["requirements/spark-4.0.in"],
    UV: ["requirements/uv.in"],
    GO: ["requirements/go.in"],
    NODE: ["requirements/node.in"],
    RECIPES: ["requirements/recipes.in"],
} | {
    str(path.with_suffix(".lock").relative_to(ROOT)): [str(path.relative_to(ROOT))]
    for path in sorted(ROOT.glob("conformance/clients/*/versions/*/requirements.in"))
}


def uv() -> Path:
    """Return the locked resolver, and fetch it into ``build/`` if it is missing."""
    HOME_OF_UV.parent.mkdir(exist_ok=True)
    side_environment(HOME_OF_UV, ROOT / UV)
    return HOME_OF_UV / "bin" / "uv"


def main() -> int:
    """Write the locks, the largest first."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--upgrade", action="store_true", help="take newest versions")
    upgrade = parser.parse_args().upgrade
    try:
        program = uv()
        environment = uv_environment(pip_settings(PYTHON_OF_UV), os.environ)
        for target, sources in LOCKS.items():
            print(f"lock: {target}", flush=True)
            command = [str(program), "pip", "compile", "--quiet", "--universal"]
            command += ["--python-version", OLDEST_PYTHON, "--generate-hashes"]
            command += ["--no-emit-index-url", "--no-header", "--no-annotate"]
            command += [*sources, "--output-file", target]
            if upgrade and target in {DEV, DOCS, OLDEST_SPARK, UV, GO, NODE, RECIPES}:
                command.append("--upgrade")
            subprocess.run(command, check=True, cwd=ROOT, env=environment)
    except (SetUpError, OSError, subprocess.CalledProcessError) as error:
        print(f"lock: failed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
