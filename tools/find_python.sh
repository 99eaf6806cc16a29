#!/bin/sh
# Print the Python that set-up builds .venv with. $PYTHON alone counts when it is set.
# Fits: Python 3.11 to 3.14 with venv. The one that .venv was made with comes first.
set -u

check='
import sys
version = "%d.%d" % sys.version_info[:2]
if not (3, 11) <= sys.version_info[:2] <= (3, 14):
    sys.exit("Python " + version)
try:
    import ensurepip, venv
except ImportError:
    sys.exit("Python " + version + " without venv (Debian and Ubuntu: python3-venv)")
print(getattr(sys, "_base_executable", sys.executable))  # never an environment
'

if [ -n "${PYTHON:-}" ]; then
    candidates=$PYTHON
else
    candidates='.venv/bin/python python3.13 python3.12 python3.11 python3.14 python3 python'
fi

seen=''
old_ifs=$IFS
[ -z "${PYTHON:-}" ] || IFS=''
for candidate in $candidates; do
    command -v "$candidate" >/dev/null 2>&1 || continue
    if said=$("$candidate" -I -c "$check" 2>&1); then
        printf '%s\n' "$said"
        exit 0
    fi
    seen="$seen
  $(command -v "$candidate"): $(printf '%s' "$said" | tail -n 1)"
done
IFS=$old_ifs

{
    echo 'set-up: no usable Python: needed is 3.11, 3.12, 3.13 or 3.14 with venv.'
    if [ -n "$seen" ]; then
        printf 'Found only:%s\n' "$seen"
    else
        printf 'Looked for: %s\n' "$candidates"
    fi
    echo 'Install one, or name it: make setup PYTHON=/path/to/python3.13'
} >&2
exit 1
