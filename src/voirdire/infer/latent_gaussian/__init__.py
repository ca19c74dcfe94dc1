"""Nested Laplace approximations: spreads by their marginal likelihood, all else given them by sparse Newton steps."""
