"""Leaderboard: statements that hold together, what a choice may cost, what would settle it."""
