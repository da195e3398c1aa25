"""How the best adversary is found: the menu, the budget, the grid of losses, the induction."""
