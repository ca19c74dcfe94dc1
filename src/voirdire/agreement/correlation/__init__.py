"""Correlation of judges and metrics with people: coefficients, grouping levels, comparisons."""
