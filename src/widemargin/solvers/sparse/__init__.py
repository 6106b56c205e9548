"""Methods over columns, for l1 and the elastic net, and those of losses with a corner."""
