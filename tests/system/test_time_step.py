"""A time step that is no step, of any model, ends the run as numerical before anything is written."""

import unittest

from program import EQUAL, SystemTest, box_case, tutti

NUMERICAL = 6

FLOW = """model = "incompressible"
[grid]
cells = [6, 6, 1]
[fluid]
viscosity = {viscosity}
[[boundary]]
face = "y-upper"
value = [{lid}, 0, 0]
[time]
{time}
"""

NODES = """model = "transport"
[nodes]
generate = "fibonacci"
count = 400
[velocity]
{velocity}
[[tracer]]
name = "q"
initial = "x"
[time]
{time}
"""


class TimeStep(SystemTest):
    def refuse(self, text, *patterns):
        """On one rank; cases with an end on two."""
        case = self.write("case.toml", text)
        ranks = 2 if "end = " in text else None
        with self.subTest(ranks=ranks, text=text):
            folder = self.folder / "new" / "results"
            result = tutti("run", case, "-o", folder, *EQUAL, ranks=ranks, timeout=60)
            self.assert_error(result, NUMERICAL, *patterns)
            self.assertFalse((self.folder / "new").exists(), "a folder is left behind")

    def test_values_out_of_range(self):
        for time in ("steps = 3", "end = 1"):
            self.refuse(box_case(n=3, physics='K = 1e300\ninitial = "x"', time=time), r"rows are (out of range|not finite)")
            self.refuse(FLOW.format(viscosity="1e-2", lid="1e200", time=time), "a time step of 0 cannot be taken")
            self.refuse(FLOW.format(viscosity="1e308", lid="1", time=time), "a time step of")
        # Steps of 1e-301 are steps; they do not reach 1.
        self.refuse(NODES.format(velocity='cartesian = ["-1e300*y", "1e300*x", "0"]', time="end = 1"), r"a time step of \S+e-301")

    def test_a_safety_of_nearly_nothing(self):
        for time in ("steps = 3", "end = 1"):
            time += "\nsafety = 5e-324"
            self.refuse(box_case(n=3, time=time), r"a time step of \S+ cannot be taken at time")
            self.refuse(box_case(n=3, time=time + '\nmethod = "rkc2"'), r"a time step of \S+ cannot be taken at time")
            self.refuse(FLOW.format(viscosity="1e-2", lid="1", time=time), r"a time step of \S+ cannot be taken at time")
            self.refuse(NODES.format(velocity='cartesian = ["-y", "x", "0"]', time=time), r"a time step of \S+ cannot be")

    def test_steps_that_do_not_change_the_time(self):
        self.refuse(box_case(n=3, time="end = 1e30"), r"cannot be taken at time 1e\+30")
        self.refuse(box_case(n=3, time="steps = 3\ndt = 1e-310"), r"case\.toml:\d+:\d+: a time step of 1e-310")
        self.refuse(NODES.format(velocity='cartesian = ["-y", "x", "0"]', time="end = 1e30"), "a time step of")

    def test_flat_cells(self):
        # Its vertices are in one plane but for rounding: 1e-150 of its size.
        cells = [(0, 1, 2, 3), (1, 2, 3, 4)]
        points = ["0 0 0", "1 0 0", "0 1 0", "0.3 0.3 1e-150", "1 1 1"]
        self.write("flat.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n"
                   + "".join(f"{i} {p}\n" for i, p in enumerate(points, 1)) + "$EndNodes\n$Elements\n2\n"
                   + "".join(f"{i} 4 2 1 1 " + " ".join(str(v + 1) for v in cell) + "\n"
                             for i, cell in enumerate(cells, 1)) + "$EndElements\n")
        for time in ("steps = 3", "end = 1"):
            self.refuse('model = "diffusion"\n[mesh]\nfile = "flat.msh"\n[physics]\nK = 1\ninitial = "x"\n[time]\n'
                        + time, "time step|out of range|not finite")

    def test_the_folder_above_stays(self):
        (self.folder / "new").mkdir()
        case = self.write("case.toml", box_case(n=3, time="steps = 3\nsafety = 5e-324"))
        result = tutti("run", case, "-o", self.folder / "new" / "results", *EQUAL)
        self.assert_error(result, NUMERICAL, "a time step of")
        self.assertEqual(list((self.folder / "new").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
