"""Where the texts of messages stand in the sources: what takes them, what passes them on, and the few that need no
advice. write_messages.py fails where an entry here is of no use any more, or where one is missing.
"""
from typing import NamedTuple


class Source(NamedTuple):
    """Something that takes a text: the argument `text` of every call of `name` (a list in braces counts as one), or what
    a function `name` returns, or what is assigned to `name`. ".error" is a call on any object."""
    how: str  # call, return, assign, braces
    name: str
    files: str  # a pattern of file names
    text: int = 0
    format: bool = False  # the text is a format in fmt's notation and its arguments follow
    kinds: tuple = ()  # (kind, what is put around the text); without: the kind stands in an argument before the text
    inside: str = ""  # the text takes the place of this hole in the messages of the same file


ALL = "*"
MESH = "tutti/mesh/*"
IN_FILE = (("input", "{place}: {}"),)  # TextSource::error_text puts file and line, or file and byte, before the text

SOURCES = [
    Source("call", "fail", ALL, 1, True),
    Source("call", "warn", ALL, 0, True, (("warning", "{}"),)),
    # fail_spec: a wrong option, or in a case (load_mesh in tet_domain.cpp) a wrong key.
    Source("call", "fail_spec", MESH, 1, True, (("usage", "{}"), ("input", "{place}: {}"))),
    # TextSource::error, gmsh::Source::error, vtu File::error: from outside and from their own members.
    Source("call", ".error", MESH, 1, True, IN_FILE),
    Source("call", "error", "tutti/mesh/text_source.cpp", 1, True, IN_FILE),
    Source("call", "error", "tutti/mesh/gmsh_source.cpp", 1, True, IN_FILE),
    Source("call", "error", "tutti/mesh/vtu_file.cpp", 1, True, IN_FILE),
    # Local functions that put a reason into a message.
    Source("call", "refuse", "tutti/mesh/write_check.cpp", 0, inside="why"),
    Source("call", "refuse", "tutti/mesh/gmsh_write.cpp", 0, inside="why"),
    Source("call", "refuse", "tutti/io/mesh_vtu.cpp", 0, inside="why"),
    Source("call", "warn_count", "tutti/mesh/tet_checks.cpp", 1, inside="what"),
    Source("call", "damaged", "tutti/io/checkpoint_header.cpp", 0, inside="why"),
    Source("call", "damaged", "tutti/io/checkpoint_rows.cpp", 0, inside="what"),
    Source("call", ".damaged", "tutti/io/checkpoint_rows.cpp", 0, inside="what"),
    Source("call", "refuse", "tutti/io/checkpoint_layout.cpp", 1, inside="what"),
    Source("call", "damaged", "tutti/models/transport/stencil_cache.cpp", 0, inside="why"),
    Source("call", "fail_at", "tutti/io/formula_parser.cpp", 3, inside="why"),
    # Problems of a case are collected; the first one in the file is told.
    Source("call", ".push_back", "tutti/io/case.cpp", 1, kinds=(("input", "{}"),)),
    Source("return", "unknown_key_message", "tutti/io/case.cpp", kinds=(("input", "{place}: {}"),)),
    # The command line, what CLI11 says about it included.
    Source("return", "explain_command_line", "tutti/simulation/help.cpp", kinds=(("usage", "{}"),)),
    # Errors of a rank or a thread that are told elsewhere.
    Source("return", "run_and_catch", "tutti/base/comm.cpp", 2),
    Source("return", "no_memory_message", "tutti/base/refused_memory.cpp", kinds=(("resource", "{}"),)),
    Source("call", "end_all", "tutti/simulation/program.cpp", 0, kinds=(("resource", "{}"),)),
    Source("braces", "Failure", "tutti/io/checkpoint_write.cpp", 1),
    Source("return", "describe_full_cores", "tutti/device/host_load.cpp", kinds=(("warning", "{}"),)),
    Source("assign", "problem", "app/python.cpp", kinds=(("resource", "{}"),)),
    Source("assign", "message", "app/python.cpp", kinds=(("resource", "{}"),)),
]

# The modules that draw for `tutti plot` and `tutti spectrum`; what they raise is told by it.
PYTHON = [f"python/tutti/{name}.py"
          for name in ("__main__", "box", "history", "messages", "plot", "results", "slices", "spectrum", "sphere", "surface",
                       "timeline", "vtkxml")]

# Texts that are known under a name, beside the named texts of each file.
NAMED_TEXTS = {("tutti/simulation/help.cpp", "see"): "; see {command} --help"}

# Messages without words of their own, and where their words come from.
FORWARDS = {
    ("tutti/models/transport/transport_setup.cpp", "{place}: {cause}"): "check_basis",
    ("app/python.cpp", "{message}"): "the Python package, see PYTHON",
    ("app/python.cpp", "{last_line}"): "the Python package, see PYTHON",
    ("app/plot.cpp", "{problem}"): "app/python.cpp",
    ("app/spectrum.cpp", "{problem}"): "app/python.cpp",
    ("app/doctor.cpp", "{found}; {advice}"): "the findings of tutti doctor",
    ("tutti/base/comm.cpp", "{cause}"): "an Error of any rank",
    ("tutti/base/comm.cpp", "{no_memory_message}"): "no_memory_message",
    ("tutti/simulation/program.cpp", "{no_memory_message}"): "no_memory_message",
    ("tutti/simulation/program.cpp", "{message}"): "system_cause, of threads and memory",
    ("tutti/mesh/read_mesh.cpp", "{path}: {cause}"): "find_face_neighbours",
    ("tutti/device/host_load.cpp", "{text}"): "describe_full_cores",
    ("tutti/io/case.cpp", "{message}"): "the first of the collected problems",
    ("tutti/io/case.cpp", "{cause}"): "check_value",
    ("tutti/io/case.cpp", "{place}: {unknown_key_message}"): "unknown_key_message",
    ("tutti/mesh/text_source.cpp", "{place}: {context}{message}"): "TextSource::error",
    ("tutti/models/transport/stencil_cache.cpp", "{cause}"): "StencilCache",
    ("tutti/simulation/program.cpp", "{cause}"): "any Error",
    ("tutti/simulation/box_domain.cpp", "{place}: {cause}"): "split_box",
    ("tutti/simulation/node_domain.cpp", "{place}: {cause}"): "the generators of nodes",
    ("tutti/simulation/tet_domain.cpp", "{place}: {cause}"): "fail_spec",
}

# Headers that define what passes a format on: fail(), fail_spec(), error() of the readers, warn().
PASS_ON = {"tutti/base/error.hpp", "tutti/base/log.hpp", "tutti/mesh/spec_error.hpp", "tutti/mesh/text_source.hpp",
           "tutti/mesh/vtu_file_internal.hpp"}

# What may be thrown other than by fail(), and where: what these say is in SOURCES, or is a bug of tutti and no message.
THROWN = {
    "std::logic_error": ALL,
    "std::bad_alloc": "tutti/base/raw_vector.hpp tutti/simulation/last_resort.cpp " + MESH,
    "Error": "tutti/base/error.hpp",
    "SpecError": "tutti/mesh/spec_error.hpp",
    "SharedError": ALL,
}

# Who may write to stderr.
SPEAKERS = {
    "tutti/base/log.cpp": "warn()",
    "tutti/simulation/program.cpp": "the one place that prints an error",
    "tutti/device/fake/fake_memory.cpp": "for tests: code that touched memory of a device it may not touch",
}

# Messages that break a rule for a reason: (rule, message) -> reason.
ALLOWED = {
    ("place", "{labels} at ({points}, {points}, {points}) is outside the mesh; move it into a cell"):
        "a label begins with the place of the probe in the case",
    ("place", "{labels} at ({points}, {points}, {points}) is outside the box; move it into it"):
        "a label begins with the place of the probe in the case",
    ("place", "{labels} at the sphere's centre is above no node; move it away from there"):
        "a label begins with the place of the probe in the case",
    ("place", "{problem}; the results are in {folder}"): "the problem is the message of an error, with its place",
    ("advice", "{problem}; the results are in {folder}"): "the problem is the message of an error, with its advice",
}
