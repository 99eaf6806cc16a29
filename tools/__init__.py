"""Set-up and checks of this checkout; not part of the installed package."""
