"""Sections of the page of a fit, one file each; which of them a page has depends on what the result offers."""
