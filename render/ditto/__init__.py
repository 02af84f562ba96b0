"""Ditto: networks and maths that turn speech into the motion of a pictured face and draw it, in torch."""
