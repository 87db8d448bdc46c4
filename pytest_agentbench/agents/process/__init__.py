"""Agents in processes of their own: started, sandboxed, asked by messages and ended.

The parent's side may import anything of agents/; the child's side imports no benchmark.
"""
