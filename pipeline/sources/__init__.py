"""Sources of histories: find files, recognize their formats, read them into rows."""
