"""Set-up and checks of this checkout; no part of what gets installed."""
