"""BigCodeBench (Zhuo et al., arXiv:2406.15877): 1,140 functions to write with many libraries."""
