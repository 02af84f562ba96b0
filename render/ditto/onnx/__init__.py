"""ONNX graphs run by torch."""
