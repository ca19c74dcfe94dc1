"""Votes: judges compare two items."""
