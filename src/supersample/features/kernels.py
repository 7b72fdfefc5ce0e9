"""The former place of `supersample.kernels`: plain.py and sound_stream.py of the summary still import from here.

Remove this file together with those two imports.
"""

from supersample.kernels import Cauchy, Function, Gaussian, Kernel, Laplacian, Matern, Sum

__all__ = ["Cauchy", "Function", "Gaussian", "Kernel", "Laplacian", "Matern", "Sum"]
