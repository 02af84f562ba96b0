"""How the viseme net is made: labelled speech, its spoiling, the net, its training, export and evaluation."""
