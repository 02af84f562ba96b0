"""Golden directories: expected values, and what compares them with the project. Run scripts/parity.py."""
