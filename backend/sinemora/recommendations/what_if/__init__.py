"""What-if analysis: applications under a changed network, placement or curve, and rental options."""
