"""How policies are compared: whole tournaments on duplicate deals, and what follows from them."""
