"""The experiments of the papers that the package implements, each as pictures and JSON."""
