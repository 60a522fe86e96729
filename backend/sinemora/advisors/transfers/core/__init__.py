"""Pure core of the transfer planner: networks, the plan, a simulator of fair sharing, shapes of traffic."""
