"""Protocols of the papers, and their baselines; `voirdire collect` finds them by their entry points."""
