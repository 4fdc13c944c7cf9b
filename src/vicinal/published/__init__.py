"""Published results as data, and ``reproduce``: the figures measured again."""
