"""The simulator as a device, and as `kb.sim`: from live kernels and arguments to IR and arrays for `kbuild.sim`.

    kb.launch(kernel, dim=n, inputs=[x], device="sim")     the arrays are kb.array(…, device="sim"), or NumPy's
    result = kb.sim.run(kernel, n, [x], profile=True)      runs it and tells what happened

`face` has the names of `kb.sim`.
"""
