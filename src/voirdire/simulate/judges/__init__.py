"""Synthetic judges: one file per family, one shared interface."""
