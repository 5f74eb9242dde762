"""Small GPU kernels of a robot, compiled by kbuild while this package's wheel is built."""
