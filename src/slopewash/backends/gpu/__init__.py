"""WGSL compute through wgpu, on any vendor's card: adapters, fields, kernels and what they cost.

Imported only where a GPU is asked for, because wgpu is an extra.
"""
