"""The algorithms of the five papers, transcribed from their printed pseudo-code and equations alone.

These were written from the text of the papers by someone who had not read the package's code. They follow the letter, loops
and all, and are as slow as that makes them. `tests/reference/test_printed.py` compares the package with them; where the two
differ by design, the page of the paper says so.
"""
