"""Asking people: a page without a server, and the answers that it gives."""
