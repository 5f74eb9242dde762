"""The front end of a depth camera, in CUDA C++."""
