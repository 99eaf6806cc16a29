"""Sources of histories: files found, recognized, and read into rows."""
