"""Files: their layout, the codec of what they hold, and the lock that keeps two runs apart."""
