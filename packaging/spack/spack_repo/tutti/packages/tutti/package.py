# SPDX-FileCopyrightText: The tutti authors
# SPDX-License-Identifier: Apache-2.0

from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Tutti(CMakePackage, CudaPackage):
    """Mesh-based simulations and graph analysis on all CPU cores and GPUs of a machine or an MPI
    cluster at once."""

    # The checkout that this recipe lies in.
    git = Path(__file__).resolve().parents[5].as_uri()

    license("Apache-2.0")

    version("main", branch="main")

    variant("scotch", default=True, description="The partitioner Scotch beside METIS")
    variant("python", default=True, description="The Python package with tutti plot")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("eigen@3.4:", type="build")
    depends_on("nanoflann@1.4:", type="build")

    depends_on("mpi")
    depends_on("fmt@9:")
    depends_on("zlib-api")
    depends_on("pugixml")
    depends_on("hdf5")
    depends_on("xxhash")
    depends_on("metis@5:")
    depends_on("tomlplusplus@3.3:")
    depends_on("scotch@7:", when="+scotch")
    depends_on("cuda@13:", when="+cuda")

    with when("+python"):
        depends_on("python@3.9:", type="run")
        depends_on("py-numpy", type="run")
        depends_on("py-matplotlib", type="run")

    requires("target=x86_64_v3:", when="target=x86_64:", msg="tutti needs AVX2 and FMA")
    conflicts("%gcc@:11", msg="tutti is written in C++20 as GCC 12 knows it")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPU, for example cuda_arch=90")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("TUTTI_PORTABLE", True),
            self.define("TUTTI_TESTS", False),
            self.define("TUTTI_BENCH", False),
            self.define_from_variant("TUTTI_CUDA", "cuda"),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_Scotch", self.spec.satisfies("~scotch")),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(
                self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value)
            )
        return args

    def setup_run_environment(self, env):
        if self.spec.satisfies("+python"):
            env.prepend_path("PYTHONPATH", self.prefix.share.tutti.python)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        """The program starts and says what works here."""
        tutti = Executable(self.prefix.bin.tutti)
        tutti("--version")
        tutti("doctor")
