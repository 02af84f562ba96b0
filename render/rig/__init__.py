"""The rig engine: a textured, rigged head drawn on the CPU and driven by visemes."""
