"""What if: applications under a network, places or curves that are not so, and what a tenant could rent instead."""
