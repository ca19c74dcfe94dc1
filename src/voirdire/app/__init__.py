"""Web page on this machine for users without a terminal: upload a file, fit, read the report, answer, fit again."""
