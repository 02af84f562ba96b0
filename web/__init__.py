"""The front: sockets, pages and commands. Nothing heavy runs here."""
