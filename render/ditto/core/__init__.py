"""The GPU core: what Ditto computes for many sessions, fused, in half precision, without waiting for the host."""
