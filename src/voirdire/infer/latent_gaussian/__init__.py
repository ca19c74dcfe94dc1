"""Nested Laplace approximations: spreads by their marginal likelihood, then latent values by sparse Newton steps."""
