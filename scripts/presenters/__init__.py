"""How the presenters that ship are made: shape, look and clothes, rendered in layers and packed."""
