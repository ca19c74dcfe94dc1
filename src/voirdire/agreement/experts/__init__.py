"""Panels of experts and judges: their agreement, and changes between runs, orders and phases."""
