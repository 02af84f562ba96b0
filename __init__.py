"""visavis: a face for any voice. A self-hosted, real-time talking-head server."""

__version__ = "0.1.0"
