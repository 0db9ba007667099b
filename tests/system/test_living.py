"""What makes the program pleasant to live with: doctor, help on slips, completion, plots, kept results, safe cases."""

import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from program import DATA, EQUAL, MPIRUN, PROGRAM, SystemTest, box_case, run, sets, tutti

USAGE, RESOURCE, INPUT, IO = 2, 3, 4, 5


def with_environment(changes, *arguments, ranks=None, cwd=None):
    """tutti with other environment variables; None takes one out."""
    before = {name: os.environ.get(name) for name in changes}
    try:
        for name, value in changes.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        return tutti(*arguments, ranks=ranks, cwd=cwd)
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def tree(folder):
    """Every file below with its content; links by where they lead."""
    return {str(p.relative_to(folder)): os.readlink(p) if p.is_symlink() else p.read_bytes()
            for p in sorted(Path(folder).rglob("*")) if p.is_symlink() or p.is_file()}


class Doctor(SystemTest):
    CHECKS = {"MPI", "MPI launch", "threads", "memory", "disk", "CUDA", "GPU links", "HDF5", "gmsh", "plots"}

    def setUp(self):
        super().setUp()
        # Where several MPIs are installed, "mpirun" may be of another one than the program.
        launcher = shutil.which(MPIRUN[0])
        if launcher is None or os.path.realpath(launcher) == os.path.realpath(shutil.which("mpirun") or ""):
            return
        path = Path(tempfile.mkdtemp(prefix="tutti_mpirun_"))
        self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        (path / "mpirun").write_text(f'#!/bin/sh\nexec {shlex.quote(launcher)} "$@"\n', encoding="utf-8")
        (path / "mpirun").chmod(0o755)
        before = os.environ.get("PATH", os.defpath)
        os.environ["PATH"] = f"{path}{os.pathsep}{before}"
        self.addCleanup(os.environ.__setitem__, "PATH", before)

    def json_of(self, result):
        self.assertEqual(result.code, 0, result.err + result.out)
        return {check["check"]: check for check in json.loads(result.out)["checks"]}

    def test_one_line_a_check(self):
        result = tutti("doctor", cwd=self.folder)
        self.assertEqual(result.code, 0, result.err)
        lines = result.out.strip().split("\n")
        for line in lines:
            self.assertRegex(line, r"^(ok|warning) +\S")
        self.assertEqual(len(lines), len(self.CHECKS))
        self.assertEqual(list(self.folder.iterdir()), [], "the doctor leaves files")

    def test_json(self):
        checks = self.json_of(tutti("doctor", "--json", cwd=self.folder))
        self.assertEqual(set(checks), self.CHECKS)
        for check in checks.values():
            self.assertEqual(check["state"] == "ok", check["advice"] == "", check)
            self.assertTrue(check["found"])
        self.assertIn(str(self.folder), checks["disk"]["found"])
        self.assertRegex(checks["MPI"]["found"], r"Open MPI|MPICH|Intel")
        self.assertIn("mpirun starts two ranks: 2 ranks communicate", checks["MPI launch"]["found"])

    def test_over_mpi(self):
        result = tutti("doctor", "--json", "--threads", "1", ranks=2, cwd=self.folder)
        launch = self.json_of(result)["MPI launch"]
        self.assertRegex(launch["found"], r"^2 ranks communicate.*: [\d.]+ us, [\d.]+ GB/s")
        self.assertEqual(json.loads(result.out)["ranks"], 2)

    def test_more_threads_than_cores(self):
        threads = 1 + len(os.sched_getaffinity(0))
        for policy, wanted in ((None, True), ("passive", False), ("ACTIVE", True)):
            with self.subTest(policy=policy):
                result = with_environment({"OMP_WAIT_POLICY": policy}, "doctor", "--json", "--threads", threads, ranks=2,
                                          cwd=self.folder)
                check = self.json_of(result)["threads"]
                self.assertEqual(check["state"], "warning")
                self.assertIn(f"2 ranks with {2 * threads} threads", check["advice"])
                self.assertEqual("OMP_WAIT_POLICY=passive" in check["advice"], wanted)

    def test_programs_that_are_not_there(self):
        # A PATH with nothing in it: neither gmsh nor mpirun.
        result = with_environment({"PATH": str(self.folder), "TUTTI_PYTHON": str(self.folder / "no python")}, "doctor",
                                  "--json", cwd=self.folder)
        checks = self.json_of(result)
        self.assertIn("apt install gmsh", checks["gmsh"]["advice"])
        self.assertIn("no mpirun", checks["MPI launch"]["found"])
        self.assertIn("no python", checks["plots"]["advice"])
        self.assertIn("TUTTI_PYTHON", checks["plots"]["advice"])

    def test_root_is_told_about_mpirun(self):
        if os.geteuid() != 0:
            self.skipTest("for root only")
        names = ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"]
        check = self.json_of(with_environment(dict.fromkeys(names), "doctor", "--json", cwd=self.folder))["MPI launch"]
        if "Open MPI" in check["advice"] or "allow" in check["advice"]:
            self.assertIn("--allow-run-as-root", check["advice"])
        check = self.json_of(with_environment(dict.fromkeys(names, "1"), "doctor", "--json", cwd=self.folder))["MPI launch"]
        self.assertEqual(check["state"], "ok")


class FullCores(SystemTest):
    def test_a_run_warns_once(self):
        case = self.write("case.toml", box_case(n=3))
        threads = str(len(os.sched_getaffinity(0)))
        for policy, count in ((None, 1), ("passive", 0)):
            with self.subTest(policy=policy):
                result = with_environment({"OMP_WAIT_POLICY": policy}, "-q", "run", case, "-o", self.folder / "r",
                                          "--overwrite", "--threads", threads, *EQUAL, ranks=2)
                self.assertEqual(result.code, 0, result.err)
                warnings = [line for line in result.err.split("\n") if "tutti: warning:" in line]
                self.assertEqual(len(warnings), count, result.err)
                for line in warnings:
                    self.assertIn("OMP_WAIT_POLICY=passive", line)


class Slips(SystemTest):
    def test_the_nearest_name_is_suggested(self):
        for arguments, patterns in {
            ("rnu",): ["unknown subcommand 'rnu' of tutti", "did you mean 'run'", "tutti --help"],
            ("doktor",): ["did you mean 'doctor'"],
            ("mesh", "inof", "a.msh"): ["'inof' of tutti mesh", "did you mean 'info'", "see tutti mesh --help"],
            ("mesh", "generate", "biventrikel"): ["did you mean 'biventricle'", "tutti mesh generate --help"],
            ("run", "case.toml", "-o", "r", "--devcies", "cpu"): ["'--devcies' of tutti run", "did you mean '--devices'"],
            ("run", "case.toml", "--ouput=r"): ["did you mean '--output'"],
            ("run", "--quite", "case.toml", "-o", "r"): ["did you mean '--quiet'"],
            ("--verbos", "run"): ["did you mean '--verbose'"],
            ("frobnicate",): ["unknown subcommand 'frobnicate' of tutti", "run, plan, doctor"],
            ("run", "-o", "run", "case.toml", "--xyzzyx"): ["unknown option '--xyzzyx' of tutti run; see tutti run --help"],
            ("mesh",): ["needs a subcommand: generate", "info", "tutti mesh --help"],
            ("run",): ["CASE is missing", "tutti run --help"],
            ("run", "a.toml", "-o", "r", "--threads", "-3"): ["--threads", "tutti run --help"],
        }.items():
            with self.subTest(arguments=arguments):
                self.assert_error(tutti(*arguments, cwd=self.folder), USAGE, *patterns)


class Completion(SystemTest):
    def complete(self, *words):
        """What bash offers for the last word of the line, which may be empty."""
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tutti; '
                  'for w in "${COMPREPLY[@]}"; do printf "%s\\n" "$w"; done')
        result = run(["bash", "--norc", "-c", script, "bash", str(self.script), *words], cwd=self.work)
        self.assertEqual((result.code, result.err), (0, ""))
        return result.out.split("\n")[:-1]

    def setUp(self):
        super().setUp()
        self.script = self.folder / "tutti.bash"
        self.script.write_text(tutti("completion", "bash").out)
        self.work = self.folder / "work"
        (self.work / "results one").mkdir(parents=True)
        (self.work / "results two").mkdir()
        (self.work / "case.toml").write_text("")

    def test_the_script_registers_itself(self):
        result = run(["bash", "--norc", "-c", 'set -eu; source "$1"; complete -p tutti', "bash", str(self.script)])
        self.assertEqual((result.code, result.out.strip()), (0, "complete -F _tutti tutti"), result.err)

    def test_subcommands(self):
        shown = re.findall(r"^  (\w+) ", tutti("--help").out.split("Subcommands:")[1].split("\n\n")[0], re.M)
        self.assertGreater(len(shown), 8)
        self.assertEqual(self.complete("tutti", ""), shown)
        self.assertEqual(self.complete("tutti", "p"), ["plan", "partition", "plot"])
        self.assertEqual(self.complete("tutti", "-q", "mesh", "g"), ["generate"])
        self.assertEqual(self.complete("tutti", "mesh", "generate", ""), ["box", "biventricle"])

    def test_every_option_of_every_help_is_offered(self):
        from test_commands import COMMANDS
        for command in COMMANDS:
            with self.subTest(command=command):
                text = tutti(*command, "--help").out
                options = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.M))
                self.assertIn("--help", options)
                offered = set(self.complete("tutti", *command, "--"))
                self.assertLessEqual(options, offered)
                self.assertLessEqual(offered - options, {"--quiet", "--verbose"})

    def test_values(self):
        self.assertEqual(self.complete("tutti", "mesh", "generate", "box", "--format", "msh2"), ["msh22", "msh22-ascii"])
        self.assertEqual(self.complete("tutti", "completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.complete("tutti", "plot", "--clip", ""), ["x", "y", "z", "none"])
        self.assertIn("hilbert", self.complete("tutti", "partition", "a.msh", "--method", ""))
        self.assertEqual(self.complete("tutti", "run", "case.toml", "--threads", ""), [], "a number: nothing to offer")
        self.assertEqual(self.complete("tutti", "run", "--set", "time.s"), ["time.steps=", "time.safety=", "time.steady=", "time.stages="])

    def test_files_and_folders(self):
        self.assertEqual(self.complete("tutti", "run", "ca"), ["case.toml"])
        self.assertEqual(sorted(self.complete("tutti", "run", "case.toml", "-o", "res")), ["results one", "results two"])
        self.assertEqual(self.complete("tutti", "run", "case.toml", "--output", "c"), [], "a file is no folder")
        self.assertEqual(sorted(self.complete("tutti", "plot", "")), ["results one", "results two"])
        self.assertEqual(self.complete("tutti", "run", "-o", "mesh", ""), self.complete("tutti", "run", ""),
                         "a value that is called like a subcommand")

    def test_other_shells_take_their_scripts(self):
        checked = 0
        for shell, words in (("zsh", ["zsh", "-f", "-n"]), ("fish", ["fish", "--no-config", "-n"])):
            script = self.folder / f"tutti.{shell}"
            script.write_text(tutti("completion", shell).out)
            self.assertIn("biventricle", script.read_text())
            self.assertIn("msh22-ascii", script.read_text())
            if shutil.which(shell):
                result = run([*words, str(script)])
                self.assertEqual((result.code, result.err), (0, ""))
                checked += 1
        if shutil.which("fish"):
            result = run(["fish", "--no-config", "-c", f"source {script}; complete -C 'tutti mesh generate '"])
            self.assertEqual([line.split("\t")[0] for line in result.out.split("\n")[:-1]], ["biventricle", "box"])
        self.assertIn(checked, (0, 1, 2))
        self.assert_error(tutti("completion", "tcsh"), USAGE, "tcsh")


class Plot(SystemTest):
    def setUp(self):
        super().setUp()
        probes = '[[output.probe]]\nname = "a, \\"b\\" $x"\npoint = [0.3, 0.3, 0.3]\n'
        self.case = self.write("case.toml", box_case(n=3, time="steps = 4", output="every = 2\n" + probes))
        self.results = self.folder / "results of mine; $(touch evil)"
        result = tutti("-q", "run", self.case, "-o", self.results, *EQUAL)
        self.assertEqual(result.code, 0, result.err)

    def assert_picture(self, path):
        self.assertTrue(path.is_file(), path)
        self.assertEqual(path.read_bytes()[:4], b"\x89PNG")
        self.assertGreater(path.stat().st_size, 5000)

    def test_fields(self):
        result = tutti("plot", self.results, cwd=self.folder)
        self.assertEqual(result.code, 0, result.err)
        self.assert_picture(self.results / "plot.png")
        result = tutti("plot", self.results, "--field", "region", "--time", "all", "--clip", "none", "-o", "x.png",
                       cwd=self.folder)
        self.assertEqual(result.code, 0, result.err)
        for i in range(3):
            self.assert_picture(self.folder / f"x-00{i}.png")
        self.assertFalse((self.folder / "evil").exists(), "a shell has read the folder's name")

    def test_history(self):
        metrics = [{"step": i, "time": 0.1 * i, "diagnostics": {"max|u|": 1.0 - 0.1 * i, "mass": 0.5 + i}} for i in range(5)]
        text = "".join(json.dumps(m) + "\n" for m in metrics) + '{"step": 5, "ti'
        (self.results / "history.csv").unlink()
        (self.results / "metrics.jsonl").write_text(text)
        result = tutti("plot", self.results, "--history", ranks=2)
        self.assertEqual(result.code, 0, result.err)
        self.assert_picture(self.results / "history.png")
        self.assertIn("3 curves", result.out)

    def test_errors(self):
        self.assert_error(tutti("plot"), USAGE, "folder", "tutti plot --help")
        self.assert_error(tutti("plot", self.folder / "none"), IO, "no such folder")
        self.assert_error(tutti("plot", self.folder / "none", "--history"), IO, "no such folder")
        self.assert_error(tutti("plot", self.results, "--field", "v"), INPUT, "no field 'v'", "u, part, region")
        self.assert_error(tutti("plot", self.results, "--time", "soon"), INPUT, "soon")
        self.assert_error(tutti("plot", self.results, "-o", self.folder / "no" / "p.png"), IO, "p.png")
        (self.results / "history.csv").unlink()
        (self.results / "metrics.jsonl").write_text('{"time": 0}\nnonsense\n{"time": 1}\n')
        self.assert_error(tutti("plot", self.results, "--history"), INPUT, r"metrics\.jsonl:2")

    def test_a_python_without_modules(self):
        bare = self.write("bare", '#!/bin/sh\nexec /usr/bin/env python3 -I -S "$@"\n')
        bare.chmod(0o755)
        result = with_environment({"TUTTI_PYTHON": str(bare)}, "plot", self.results)
        self.assert_error(result, RESOURCE, "has no numpy", "apt install python3-numpy", "TUTTI_PYTHON")
        result = with_environment({"TUTTI_PYTHON": "/no/python"}, "plot", self.results)
        self.assert_error(result, RESOURCE, "/no/python", "TUTTI_PYTHON")
        # In a virtual environment, where pip puts the program, its interpreter comes before the system's.
        place = self.folder / "venv" / "bin"
        place.mkdir(parents=True)
        shutil.copy(PROGRAM, place / "tutti")
        shutil.copy(bare, place / "python3")
        (place / "python3").chmod(0o755)
        self.assertNotIn(str(place), run([str(place / "tutti"), "plot", str(self.results)]).err)
        (place.parent / "pyvenv.cfg").write_text("")
        self.assert_error(run([str(place / "tutti"), "plot", str(self.results)]), RESOURCE, f"{place}/python3 has no numpy")

    def test_what_lies_around_is_not_imported(self):
        for name in ["tutti.py", "numpy.py", "json.py"]:
            self.write(name, "raise SystemExit('imported from the current folder')")
        if sys.version_info < (3, 11):
            self.skipTest("this Python has no safe path")
        result = tutti("plot", self.results, cwd=self.folder)
        self.assertEqual(result.code, 0, result.err)


class KeptResults(SystemTest):
    def test_results_are_not_overwritten_unasked(self):
        case = self.write("case.toml", box_case(n=2))
        folder = self.folder / "r"
        first = tutti("run", case, "-o", folder, *EQUAL, *sets(output__every=1))
        self.assertEqual(first.code, 0, first.err)
        (folder / "notes.txt").write_text("mine")
        (folder / "fields" / "mine.vtu").write_text("mine")
        before = tree(folder)
        for ranks in (None, 2):
            result = tutti("run", case, "-o", folder, *EQUAL, ranks=ranks)
            self.assert_error(result, USAGE, re.escape(str(folder)), "--overwrite", "-o")
            self.assertEqual(tree(folder), before)
            result = tutti("run", case, "-o", folder, "--overwrite", *EQUAL, *sets(time__steps=1), ranks=ranks)
            self.assertEqual(result.code, 0, result.err)
            after = tree(folder)
            self.assertEqual((after.pop("notes.txt"), after.pop("fields/mine.vtu")), (b"mine", b"mine"))
            self.assertEqual({name for name in after if "0002" in name}, set(), "fields of the earlier run")
            self.assertEqual(json.loads(after["summary.json"])["steps"], 1)
            before = tree(folder)

    def test_without_a_folder_the_case_names_it(self):
        text = box_case(n=2)
        for name in ("heart v1.2", "other"):
            (self.folder / name).mkdir()
        self.write("heart v1.2/case.toml", text)
        self.write("other/fine.mesh.toml", text)
        for case, ranks, folder in [("heart v1.2", None, "heart v1.2"), ("heart v1.2/case.toml", 2, "heart v1.2"),
                                    ("heart v1.2/", None, "heart v1.2"), ("other/fine.mesh.toml", None, "fine.mesh")]:
            shutil.rmtree(self.folder / "results", ignore_errors=True)
            result = tutti("run", case, *EQUAL, cwd=self.folder, ranks=ranks)
            self.assertEqual(result.code, 0, result.err)
            self.assertEqual([path.name for path in (self.folder / "results").iterdir()], [folder])
            self.assertIn(f"results: results/{folder} ", result.out)
        result = tutti("run", "other/fine.mesh.toml", *EQUAL, cwd=self.folder)
        self.assert_error(result, USAGE, "results/fine.mesh", "--overwrite", "-o")
        result = tutti("run", "other/fine.mesh.toml", "--overwrite", *EQUAL, cwd=self.folder)
        self.assertEqual(result.code, 0, result.err)
        # From inside its folder, and one that is not there.
        result = tutti("run", ".", *EQUAL, cwd=self.folder / "heart v1.2")
        self.assertEqual(result.code, 0, result.err)
        self.assertTrue((self.folder / "heart v1.2" / "results" / "heart v1.2" / "summary.json").is_file())
        self.assert_error(tutti("run", "none", cwd=self.folder), IO, "none: cannot open")
        self.assertFalse((self.folder / "results" / "none").exists())

    def test_links_lead_nowhere(self):
        case = self.write("case.toml", box_case(n=2))
        outside = self.folder / "outside"
        outside.mkdir()
        (outside / "file").write_text("precious")
        for name in ["fields", "mesh", "probes.csv", "metrics.jsonl", "effective.toml", "summary.json", "results.pvd"]:
            folder = self.folder / f"r_{name}"
            folder.mkdir()
            (folder / name).symlink_to(outside / "file" if "." in name else outside)
            before = tree(outside)
            with self.subTest(name=name):
                result = tutti("run", case, "-o", folder, *EQUAL)
                self.assertIn(result.code, (USAGE, IO), result.err)
                self.assert_error(result, result.code, re.escape(str(folder)))
                result = tutti("run", case, "-o", folder, "--overwrite", *EQUAL)
                self.assertEqual(result.code, IO if name == "mesh" else 0, result.err)
                self.assertEqual(tree(outside), before)


class SafeCases(SystemTest):
    # A shell that is given the third would run any of its commands.
    NASTY = ["../../evil", "ABSOLUTE/evil", "$(touch evil)`touch evil`; touch evil #| touch evil", 'a"; System "touch evil"; //',
             "a\nb,c\"d'\r", "-o evil%n%s{}{0}", "\x1b[2J", ""]

    def text_keys(self):
        """Every key of the reference that takes a text or a file, with its table."""
        table, keys = "", []
        for line in tutti("reference").out.split("\n"):
            heading = re.match(r"## `\[+([\w.]+)\]+`", line)
            table = heading[1] if heading else table
            row = re.match(r"\| `(\w+)` \| (a text|a file name|a list of texts)", line)
            if row:
                keys.append((table, row[1]))
        return keys

    def test_no_text_of_a_case_runs_or_writes_anything(self):
        keys = self.text_keys()
        self.assertIn(("mesh", "file"), keys)
        self.assertIn(("output.probe", "name"), keys)
        self.assertIn(("devices", "list"), keys)
        base = box_case(n=2, time="steps = 1", output='[[output.probe]]\nname = "p"\npoint = [0.5, 0.4, 0.3]',
                        boundary='[[boundary]]\ntag = "x-min"\n[[physics.region]]\nname = "box"\nK = 1')
        lists = {"output.probe", "boundary", "physics.region"}
        work = self.folder / "a" / "b" / "c"
        work.mkdir(parents=True)
        case = work / "case.toml"
        case.write_text(base)
        before = tree(self.folder)
        ran = 0
        for table, key in keys:
            for text in self.NASTY:
                nasty = text.replace("ABSOLUTE", str(self.folder))
                path = f"{table}[0].{key}" if table in lists else f"{table}.{key}"
                setting = ["--set", f"{path}={json.dumps(nasty)}"]
                if (table, key) == ("mesh", "file"):
                    setting += ["--set", "mesh.generate="]
                with self.subTest(path=path, nasty=nasty):
                    result = tutti("-q", "run", case, "-o", work / "out", *EQUAL, *setting, cwd=work)
                    self.assertIn(result.code, (0, 2, 3, 4, 5), result.err)
                    self.assertEqual(len(result.error_lines()), result.code != 0, result.err)
                    ran += result.code == 0
                    shutil.rmtree(work / "out", ignore_errors=True)
                    self.assertEqual(tree(self.folder), before)
        self.assertGreaterEqual(ran, 5, "no nasty text was taken: this test sees nothing")

    def test_probe_names_stay_in_their_cell(self):
        import csv
        names = ['a "quoted", name', "two\nlines", "../../x", "=1+1", "tab\t"]
        probes = "".join(f"[[output.probe]]\nname = {json.dumps(name)}\npoint = [0.5, 0.4, 0.3]\n" for name in names)
        summary = self.run_case(box_case(n=2, time="steps = 2", output=probes))
        with open(summary["folder"] / "probes.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        self.assertEqual(rows[0], ["time", *names])
        self.assertEqual([len(row) for row in rows], [6] * 4)

    def test_a_generator_works_inside_the_results(self):
        if not shutil.which("gmsh"):
            self.skipTest("gmsh is not installed")
        text = box_case(n=2, jitter=0, time="steps = 1").replace('generate = "box"\ncubes = [2, 2, 2]\njitter = 0',
                                                                  'generate = "unstructured-box"\nh = 0.5')
        work = self.folder / "a b"
        work.mkdir()
        case = work / "case.toml"
        case.write_text(text)
        before = tree(self.folder)
        result = tutti("-q", "run", case, "-o", work / "out; touch evil", *EQUAL, cwd=work)
        self.assertEqual(result.code, 0, result.err)
        after = tree(self.folder)
        new = {name for name in after if name not in before}
        self.assertTrue(any(name.endswith("box.msh") for name in new))
        self.assertEqual({name for name in new if not name.startswith("a b/out; touch evil/")}, set())
        self.assertEqual({name: after[name] for name in before}, before)


class Messages(SystemTest):
    """Each error of a case names its file and line."""

    def expect(self, text, code, *patterns, options=()):
        case = self.write("case.toml", text)
        for ranks in (None, 3):
            with self.subTest(ranks=ranks):
                result = tutti("run", case, "-o", self.folder / "r", "--overwrite", *EQUAL, *options, ranks=ranks)
                self.assert_error(result, code, *patterns)

    def test_jitter_that_turns_cells_over(self):
        text = box_case(n=6, jitter=0.49)
        line = text.split("\n").index("jitter = 0.49") + 1
        self.expect(text, INPUT, rf"case\.toml:{line}:\d+: box: jitter 0\.49 inverts \d+ of")

    def test_a_map_that_turns_cells_over(self):
        text = box_case(n=2).replace("[physics]", 'map = ["-x", "y", "z"]\n[physics]')
        line = next(i for i, l in enumerate(text.split("\n"), 1) if l.startswith("map"))
        self.expect(text, INPUT, rf"case\.toml:{line}:\d+: box: .*check the map")

    def test_a_diffusivity_that_is_not_positive(self):
        region = '[[physics.region]]\nname = "box"\nK = "x - 0.5"\n[time]'
        text = box_case(n=3).replace("[time]", region)
        line = text.split("\n").index('K = "x - 0.5"') + 1
        self.expect(text, INPUT, rf"case\.toml:{line}:\d+: K is not positive definite in cell \d+ at \(")

    def test_an_exact_solution_without_a_value_leaves_the_results(self):
        text = box_case(n=3, physics='K = 1\ninitial = "x"\nexact = "log(x - 0.5)"', time="steps = 3")
        line = text.split("\n").index('exact = "log(x - 0.5)"') + 1
        self.expect(text, INPUT, rf"case\.toml:{line}\b", "log", "the results are in")
        summary = json.loads((self.folder / "r" / "summary.json").read_text())
        self.assertEqual(summary["steps"], 3)
        self.assertNotIn("errors", summary)
        self.assertRegex(summary["problem"], rf"case\.toml:{line}\b")
        self.assertTrue((self.folder / "r" / "fields" / "fields_000001.pvtu").is_file())


class StartUp(SystemTest):
    def test_one_cell(self):
        # The run whose start-up docs/notebook/program.md tells.
        result = tutti("-q", "run", DATA / "start_up" / "one.toml", "-o", self.folder / "r")
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(json.loads((self.folder / "r" / "summary.json").read_text())["cells"], 1)


if __name__ == "__main__":
    unittest.main()
