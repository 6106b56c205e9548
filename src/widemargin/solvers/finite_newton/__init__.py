"""The modified finite Newton method over pieces of parabolas."""
