"""Inference: the mode, the Laplace approximation, NUTS, and their diagnostics."""
