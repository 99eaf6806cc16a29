"""The command line, the HTML page, and the plug-ins."""
