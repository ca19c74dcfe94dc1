"""Compiled computations that chains repeat thousands of times: answers of cells, coordinates of latent values."""
