"""Panels of experts and judges: who agrees with whom, and what changes between runs, orders and phases."""
