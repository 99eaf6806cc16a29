"""``python -m tools.site``: build the site of the documents into ``build/site``."""

from __future__ import annotations

import subprocess
import sys

from tools.installer import SetUpError
from tools.site.build import ROOT, SiteError, build_site
from tools.site.navigation import NavigationError


def main() -> int:
    """Build and check; the exit code is 1 if a page or a link is wrong."""
    try:
        front = build_site()
    except (SiteError, NavigationError) as error:
        print(f"site: {error}", file=sys.stderr)
        return 1
    except (SetUpError, OSError, subprocess.CalledProcessError) as error:
        print(f"site: the generator cannot be installed: {error}", file=sys.stderr)
        return 3
    print(f"site: {front.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
