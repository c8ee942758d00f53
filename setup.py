"""Build the Cython extensions and map ``weights/`` into the package (as ``engine/_weights``).

Everything declarative is in pyproject.toml. ``KEISEI_NATIVE=1`` compiles for this very processor; wheels never do.
"""

import os
import sys
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, find_packages, setup

ROOT = Path(__file__).resolve().parent
WINDOWS = sys.platform == "win32"
COMPILE_ARGS = ["/O2"] if WINDOWS else ["-O3", "-fno-math-errno", "-fno-trapping-math"]
if os.environ.get("KEISEI_NATIVE") == "1" and not WINDOWS:
    COMPILE_ARGS.append("-march=native")

extensions = [
    Extension(
        ".".join(source.relative_to(ROOT).with_suffix("").parts),
        [str(source.relative_to(ROOT))],
        include_dirs=[numpy.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        extra_compile_args=COMPILE_ARGS,
    )
    for source in sorted((ROOT / "engine").rglob("*.pyx"))
]

setup(
    packages=[*find_packages(include=["engine", "engine.*"]), "engine._weights"],
    package_dir={"engine._weights": "weights"},
    package_data={
        "engine": [
            "py.typed", "presets/*.toml", "train/recipes/*.toml", "evaluate/positions/*.txt",
            "**/*.pyi", "**/*.pxd", "**/*.pyx",
        ],
        "engine._weights": ["*.toml", "*.md", "*.safetensors"],
    },
    ext_modules=cythonize(
        extensions,
        nthreads=0 if WINDOWS else (os.cpu_count() or 1),
        compiler_directives={
            "language_level": "3",
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
        },
    ),
)
