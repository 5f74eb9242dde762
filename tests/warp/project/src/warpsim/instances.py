"""Which kernels of the factories the bundle holds."""

from warpsim import particles


def make():
    particles.make_power(2)
    particles.make_power(3)
