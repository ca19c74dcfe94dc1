"""Sections of the page of a fit, one file each; a page has those for which the result has data."""
