"""Transfer planner: rates, connections and order of a shuffle or broadcast, with its finish and a lower bound."""
