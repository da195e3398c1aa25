"""The proofs of the course, a module for each topic."""
