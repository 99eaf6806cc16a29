"""Where histories come from: files found, recognised, and read into rows."""
