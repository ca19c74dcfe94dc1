"""The prior of the gap between what panels and people make of items, learned across public tables.

Written by ``benchmarks/panel_gaps.py``, whose results are in benchmarks/README.md: mean and standard deviation, over
the tables, of the logarithm of the gap (:mod:`voirdire.kinds.panel_gap`).
"""

LOG_GAP_MEAN = 0.01
LOG_GAP_SD = 0.64
