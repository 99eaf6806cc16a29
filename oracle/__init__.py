"""The command line and the page."""
