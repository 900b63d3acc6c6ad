"""SWE-bench (Jimenez et al., arXiv:2310.06770) and whatever comes in its row format: issues of real repositories."""
