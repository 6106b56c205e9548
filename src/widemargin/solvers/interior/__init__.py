"""The primal-dual interior-point method."""
