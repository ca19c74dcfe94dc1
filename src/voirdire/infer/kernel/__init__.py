"""Computations that chains need thousands of times, compiled ahead: answers of cells, coordinates of latent values."""
