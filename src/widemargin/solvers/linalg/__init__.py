"""Linear algebra that several families share: conjugate gradients, Gram matrices."""
