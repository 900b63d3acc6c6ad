"""Tables of many runs, what may stand in one of them, and the pages made of them."""
