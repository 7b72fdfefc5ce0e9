"""Arrays of torch, CuPy and JAX where they lie: what they are, how much room their device has, and how to loop there."""
