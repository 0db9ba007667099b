"""What is written of a flow: slices and probes, on any machine, from a checkpoint on, and what is refused."""

import subprocess
import unittest

from program import DATA, SystemTest, box_case, sets, tutti
from test_flow import LID, SWIRL, WARM, flow

INPUT = 4
WHERE = {"low": ("x", 0.0), "middle": ("y", 0.5), "top_z-1": ("z", 1.0)}
LAYERS = {"low": (0, 0), "middle": (1, 3), "top_z-1": (2, 5)}  # axis and layer


def slices(where):
    return "".join(f'[[output.slice]]\nname = "{name}"\naxis = "{axis}"\nposition = {position}\n'
                   for name, (axis, position) in where.items())


PROBES = "".join(f'[[output.probe]]\nname = "{name}"\npoint = {point}\n'
                 for name, point in {"a, b": [0.1, 0.2, 0.3], "c": [1, 1, 1], "d": [0.5, 0.5, 0.5]}.items())
CASE = flow(stretch="1, 0.5, 0", fluid="diffusivity = 0.02\nbuoyancy = [0, 3, 0]", boundary=WARM + LID,
            initial=SWIRL + 'temperature = "1 + x*y"', time="steps = 6").replace("[output]\n", "[output]\nslice_every = 2\n")


class Output(SystemTest):
    def text(self, where=None, more=""):
        return CASE + "every = 1\n" + PROBES + slices(WHERE if where is None else where) + more

    def check(self, folder, times):
        """The slices have these times, and hold what the fields hold."""
        words = [f"{name}:{axis}:{layer}:{','.join(map(repr, times[name]))}" for name, (axis, layer) in LAYERS.items()
                 if name in times]
        done = subprocess.run(["/usr/bin/python3", DATA.parent / "python" / "read_slices.py", folder, *words],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def series(self, folder):
        return {path.name: path.read_text() for path in folder.glob("slices/*.pvd")}

    def test_slices_and_probes_on_any_machine(self):
        whole = self.run_case(self.text(), "--devices", "cpu")
        probes = (whole["folder"] / "probes.csv").read_text()
        names, *rows = probes.splitlines()
        self.assertEqual(names, 'time,' + ",".join(f'"a, b {q}"' for q in "uvwpT") + ","
                         + ",".join(f"{p} {q}" for p in "cd" for q in "uvwpT"))
        self.assertEqual(len(rows), 7)
        times = [0.0, *(k * whole["dt"] for k in (2, 4, 6))]
        self.check(whole["folder"], {name: times for name in WHERE})
        for ranks, devices, cut in ((1, "fake:2,cpu", "slabs"), (3, "fake:1,cpu", "blocks")):
            with self.subTest(ranks=ranks, devices=devices, cut=cut):
                summary = self.run_case(self.text(), "--devices", devices, *sets(partition__cut=cut), ranks=ranks)
                self.assertEqual((summary["folder"] / "probes.csv").read_text(), probes)
                self.check(summary["folder"], {name: times for name in WHERE})
                self.assertEqual(self.series(summary["folder"]), self.series(whole["folder"]))
        # At the start and the end only, unless told otherwise; results of an earlier run go.
        case = self.write("less.toml", self.text(where={"low": WHERE["low"]}))
        result = tutti("run", case, "-o", whole["folder"], "--overwrite", "--devices", "cpu", *sets(output__slice_every=0))
        self.assertEqual(result.code, 0, result.err)
        self.check(whole["folder"], {"low": [0.0, 6 * whole["dt"]]})
        self.assertEqual(len(list((whole["folder"] / "slices").iterdir())), 1 + 2 * 2)

    def test_without_temperature(self):
        summary = self.run_case(flow(time="steps = 1") + PROBES, "--devices", "cpu")
        names = (summary["folder"] / "probes.csv").read_text().splitlines()[0]
        self.assertTrue(names.endswith(",d u,d v,d w,d p"), names)
        self.assertFalse((summary["folder"] / "slices").exists())

    def test_a_series_goes_on(self):
        text = self.text(more="[checkpoint]\nevery = 3\n")
        whole = self.run_case(text, "--devices", "cpu")
        folder, before = whole["folder"], self.series(whole["folder"])
        probes = (folder / "probes.csv").read_text()
        first = sorted((folder / "checkpoints").iterdir())[0]
        self.assertEqual(tutti("run", "--restart", first, "--devices", "fake:1,cpu", ranks=2).code, 0)
        self.assertEqual(self.series(folder), before)
        self.assertEqual((folder / "probes.csv").read_text(), probes)
        times = [k * whole["dt"] for k in (0, 2, 4, 6)]
        self.check(folder, {name: times for name in WHERE})
        # A slice that is moved is another one: it begins at the checkpoint, as one does in another folder.
        moved = self.write("moved.toml", self.text({**WHERE, "middle": ("y", 0.499)}, "[checkpoint]\nevery = 3\n"))
        self.assertEqual(tutti("run", "--restart", first, moved, "--devices", "cpu").code, 0)
        late = [k * whole["dt"] for k in (3, 4, 6)]
        self.check(folder, {**{name: times for name in WHERE}, "middle": late})
        again = self.folder / "again"
        self.assertEqual(tutti("run", "--restart", first, "-o", again, "--devices", "cpu").code, 0)
        self.check(again, {name: late for name in WHERE})

    def test_what_is_refused(self):
        def refused(text, *patterns, ranks=None):
            case = self.write("wrong.toml", text)
            options = ["--devices", "cpu", *sets(balance__weights="equal")]
            result = tutti("run", case, "-o", self.folder / "wrong", "--overwrite", *options, ranks=ranks)
            self.assert_error(result, INPUT, r"wrong\.toml:\d+", *patterns)
            plan = tutti("plan", case, *options, ranks=ranks)
            self.assertEqual((plan.code, plan.out, plan.error_lines()), (INPUT, "", result.error_lines()))

        for ranks in (None, 3):
            refused(self.text({"far": ("z", 1.5)}), r"slice 'far' at z = 1\.5 is outside the box, from 0 to 1", ranks=ranks)
            refused(self.text() + slices({"low": ("z", 0.5)}), "there already is a slice 'low'", ranks=ranks)
            refused(CASE + PROBES.replace("[1, 1, 1]", "[1, -1, 1]"), r"probe 'c' at \(1, -1, 1\) is outside the box", ranks=ranks)
        refused(self.text({"a/b": ("z", 0.5)}), "slice 'a/b': the name is also a file name")
        refused(self.text({"a": ("t", 0.5)}), "axis", '"x"')
        refused(self.text({"a": ("x", '"here"')}), "position", "number")
        refused(self.text() + '[[output.slice]]\nname = "b"\n', "axis")
        refused(box_case(n=2, time="steps = 1", output=slices({"a": ("x", 0.5)})), "unknown key 'output.slice'",
                "only models on a grid have slices")
        refused(box_case(n=2, time="steps = 1", output="slice_every = 2"), "unknown key 'output.slice_every'",
                "only models on a grid have slices")

    def test_a_picture(self):
        summary = self.run_case(self.text(), "--devices", "cpu")
        picture = self.folder / "film.png"
        result = tutti("plot", summary["folder"], "--slice", "middle", "--time", "all", "-o", picture)
        if result.code == 3:
            self.skipTest(result.err)
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(sorted(p.name for p in self.folder.glob("film*.png")), [f"film-{k:03}.png" for k in range(4)])
        result = tutti("plot", summary["folder"], "--slice", "none", "-o", picture)
        self.assert_error(result, INPUT, "no slice 'none'; choose one of low, middle, top_z-1")


if __name__ == "__main__":
    unittest.main()
