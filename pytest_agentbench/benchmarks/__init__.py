"""The benchmarks, one folder each, and the protocol they share."""
