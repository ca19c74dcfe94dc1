"""Questionnaires for people: a page without a server, and its answers."""
