"""Resampling, once: statistics for weights of units and judges, resamples, intervals, tests."""
