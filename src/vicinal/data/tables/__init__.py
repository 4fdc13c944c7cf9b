"""A user's own table: files, columns, encoding."""
