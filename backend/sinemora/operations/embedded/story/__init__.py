"""Story of the demonstration: played on its network, with applications that really work and a scene around them."""
