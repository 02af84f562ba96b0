"""The GPU core: what Ditto computes, for many sessions at once, fused, and without a word from the host."""
