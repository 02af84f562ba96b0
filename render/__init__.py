"""The render plane: draws, composites and encodes, in one worker process a device."""
