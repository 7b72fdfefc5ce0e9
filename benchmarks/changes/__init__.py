"""Change detectors of ours beside those of river, frouros and alibi-detect, at one nominal run length."""
