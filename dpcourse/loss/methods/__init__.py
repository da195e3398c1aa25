"""Ways to add up many losses with a bracket on the answer; `choose` says which one serves when."""
