"""Scores: the density of ratings on a scale, judges' severity and discrimination, results and checks."""
