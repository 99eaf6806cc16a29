"""Night after night: an audit that continues the tables and the records of earlier."""
