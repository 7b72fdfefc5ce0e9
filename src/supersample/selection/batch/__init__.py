"""Points chosen from candidates that are all in memory: herding, Bayesian quadrature, Frank-Wolfe."""
