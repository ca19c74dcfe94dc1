"""A page on this machine for those who use no terminal: drop a file, fit, read the report, answer, fit again."""
