"""`wp.config`: settings that projects written for Warp read and write.

None of them changes what kbuild does: a build is configured in pyproject.toml. A setting that a kernel reads is a
captured value like any other, so that its kernels are found by it.
"""

from __future__ import annotations

_kb_settings_ = True  # what is read here inside a kernel is a value of the project's, not a name of the language

version = "1.19.0"  # of Warp, whose names these are
verify_fp = False
verify_cuda = False
verify_autograd_array_access = False
print_launches = False
mode = "release"
optimization_level = None
verbose = False
verbose_warnings = False
quiet = False
log_level = 20
enable_vector_component_overwrites = False
legacy_scalar_return_types = False
cache_kernels = True
kernel_cache_dir = None
cuda_output = None
ptx_target_arch = None
cuda_arch_suffix = None
lineinfo = False
line_directives = True
compile_time_trace = False
enable_backward = True
enable_cpu_blocks = False
default_grid_stride = True
enable_mathdx_gemm = True
enable_mathdx_solver = True
enable_mathdx_fft = True
cpu_compiler_flags = None
llvm_cuda = False
enable_graph_capture_module_load_by_default = True
enable_mempools_at_init = True
track_memory = False
max_unroll = 16
enable_tiles_in_stack_memory = True
use_precompiled_headers = True
legacy_cpu_linker = False
load_module_max_workers = 0
deterministic = "not_guaranteed"
deterministic_max_records = 0
deterministic_debug = False
launch_array_access_mode = "relaxed"
