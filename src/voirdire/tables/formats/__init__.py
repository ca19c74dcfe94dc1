"""Readers of files of tools, and of tables, as votes, scores, labels and rankings: one reader per tool."""
