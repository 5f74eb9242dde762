"""Bundles on the side that builds and looks: writing, finding, inspecting, verifying, comparing.

    write(path, manifest, blobs)    one file, published at once          → format.Parsed
    locate("robosim")               a wheel, .kbundle, package, project  → [Found(label, data)]
    summary(parsed)                 the object of `inspect --json`
    verify(parsed)                  manifest against the cubins' tables  → [Problem]
    compare(one, other)             what differs                         → [Difference]
    costs(parsed)                   what the adjoints in it cost

The file itself is `kbuild.loader.format`'s; the rows of its manifest are made in `manifest`.
"""

from kbuild.bundle.comparison import Difference, compare
from kbuild.bundle.finding import BUNDLE_NAME, Found, locate
from kbuild.bundle.gradients import costs
from kbuild.bundle.inspection import summary
from kbuild.bundle.verification import Problem, verify
from kbuild.bundle.writing import write

__all__ = ["BUNDLE_NAME", "Difference", "Found", "Problem", "compare", "costs", "locate", "summary", "verify", "write"]
