"""WGSL compute through wgpu, on any vendor's card: adapters, fields, kernels and their memory traffic.

Imported only when a GPU is requested, because wgpu is an extra.
"""
