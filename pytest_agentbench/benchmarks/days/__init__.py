"""Days that people live or tell: checked, read, drawn, and compared with days of a reference population.

Benchmarks about people's days share it. It knows none of them.
"""
