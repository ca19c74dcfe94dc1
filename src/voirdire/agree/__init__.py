"""How well judges agree: coefficients, intervals by resampling, panels of experts."""
