"""Measurements of the engine, each with a goal and, where there is one, a peer in the same run."""
