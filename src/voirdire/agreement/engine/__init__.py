"""Resampling for all verbs: statistics as functions of weights of units and judges, resamples, intervals, tests."""
