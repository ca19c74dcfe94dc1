"""The prior of how far panels of labels are from what they stand in for, learned across public tables.

Written by ``benchmarks/label_targets.py``, whose results are in benchmarks/README.md: moments, over the tables, of the
dependence and the share of :mod:`voirdire.kinds.labels.target` that suit each table's known classes.
"""

LOG_DEPENDENCE_MEAN = -0.97
LOG_DEPENDENCE_SD = 1.63
SHARE_A = 0.95  # of a beta distribution
SHARE_B = 0.98
