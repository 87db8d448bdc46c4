"""Errors, plain values, files and progress lines, for every other folder; imports none of them."""
