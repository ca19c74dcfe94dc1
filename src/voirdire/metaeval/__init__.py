"""Correlation of judges with people: coefficients, grouping levels, intervals."""
