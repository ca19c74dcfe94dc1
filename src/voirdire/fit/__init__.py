"""Fits of models to tables, and their use."""
