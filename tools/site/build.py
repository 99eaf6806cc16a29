"""Build the site: environment, pages, Sphinx with warnings as errors, links."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from tools.installer import say
from tools.site.environment import make_environment
from tools.site.formats import format_pages
from tools.site.links import broken_links
from tools.site.stage import stage

ROOT: Final = Path(__file__).resolve().parents[2]
BUILD: Final = ROOT / "build"
SOURCE: Final = BUILD / "site-source"
SITE: Final = BUILD / "site"
SETTINGS: Final = Path(__file__).parent
EPOCH: Final = "0"  # no page has the time of its build


class SiteError(RuntimeError):
    """The site has warnings or broken links; the message lists them."""


def build_site() -> Path:
    """Write the site to ``build/site``; return its front page.

    Raises
    ------
    SetUpError
        If the generator cannot be installed.
    NavigationError, SiteError
        If pages are missing from the navigation, or Sphinx or a link fails.
    """
    python = make_environment()
    stage(ROOT, SOURCE, format_pages(ROOT))
    say("executing the notebooks and writing the pages")
    write_pages(python, SOURCE, SITE)
    if broken := broken_links(SITE):
        raise SiteError("\n".join(broken))
    return SITE / "index.html"


def write_pages(python: Path, source: Path, site: Path) -> None:
    """Run Sphinx; every warning is an error, and so is a notebook that fails.

    Nothing of an earlier build is used again.

    Raises
    ------
    SiteError
        With all warnings.
    """
    shutil.rmtree(site, ignore_errors=True)
    doctrees = source.with_name("site-doctrees")
    command = [str(python), "-m", "sphinx", "-b", "html", "--fresh-env", "--quiet"]
    command += ["--fail-on-warning", "--keep-going", "--nitpicky"]
    command += ["-c", str(SETTINGS), "-d", str(doctrees), str(source), str(site)]
    settings = {"PYTHONPATH": str(ROOT), "SOURCE_DATE_EPOCH": EPOCH, "NO_COLOR": "1"}
    ran = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise SiteError(ran.stdout.strip())
