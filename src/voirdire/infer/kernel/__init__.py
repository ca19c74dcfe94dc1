"""What chains ask for thousands of times, compiled ahead: answers of cells, and coordinates of latent values."""
