"""Files: their layout, the codec of their contents, and the lock that keeps two runs from using one file."""
