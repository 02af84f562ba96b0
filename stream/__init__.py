"""The pure plane: clocks, windows, sessions and messages. No sockets, no threads, no wall clock."""
