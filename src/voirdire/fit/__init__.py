"""Fitting a model to a table, and what is done with the fit."""
