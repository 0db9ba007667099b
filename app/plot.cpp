// tutti plot: pictures of fields, histories and timelines, drawn by the Python package.
#include <filesystem>
#include <optional>

#include "app/commands.hpp"
#include "app/python.hpp"

namespace tutti::app {
namespace {

struct PlotArguments {
  std::string folder, field, slice, time = "last", clip, view, timeline, output, at, range, colours, title, dpi;
  std::optional<std::int64_t> step;
  bool history = false;
};

/// `folder`/name, but "." gives "name".
std::string in_folder(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).lexically_normal().string();
}

void plot(const PlotArguments& a) {
  if (a.folder.empty() && a.timeline.empty())
    fail(ErrorKind::usage, "tutti plot needs the folder of a run, or --timeline FILE; see tutti plot --help");
  if (a.history && !a.timeline.empty())
    fail(ErrorKind::usage, "--history and --timeline are two pictures: draw one at a time");
  const PythonPackage python = find_python();
  if (!python.problem.empty()) fail(ErrorKind::resource, "{}", python.problem);
  // "--name=value": a value that begins with a dash is no option then; "--" ends the options.
  std::vector<std::string> words;
  const auto option = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("{}={}", name, value));
  };
  std::string subject = a.folder;
  if (!a.timeline.empty()) {
    subject = a.timeline;
    words = {"timeline"};
    option("--output",
           a.output.empty() ? std::filesystem::path(a.timeline).replace_extension(".png").string() : a.output);
    if (a.step) option("--step", std::to_string(*a.step));
  } else if (a.history) {
    words = {"history"};
    option("--output", a.output.empty() ? in_folder(a.folder, "history.png") : a.output);
    option("--title", a.title);
    option("--dpi", a.dpi);
  } else {
    words = {"plot"};
    option("--output", a.output.empty() ? in_folder(a.folder, "plot.png") : a.output);
    option("--field", a.field);
    option("--slice", a.slice);
    option("--time", a.time);
    option("--clip", a.clip);
    option("--view", a.view);
    option("--at", a.at);
    option("--range", a.range);
    option("--colours", a.colours);
    option("--title", a.title);
    option("--dpi", a.dpi);
  }
  words.insert(words.end(), {"--", subject});
  run_with_python(python, words);
}

}  // namespace

void add_plot(CLI::App& program, Action& action) {
  auto a = std::make_shared<PlotArguments>();
  CLI::App* command = program.add_subcommand("plot", "draw fields, histories or a timeline of a run (needs Python)");
  command->add_option("folder", a->folder, "folder of results")->type_name("DIR");
  command
      ->add_option(
          "--field", a->field,
          "which field (default: u, else the first; of a structured grid: the velocity and T; of nodes on a sphere: "
          "all tracers, or several as a,b)")
      ->type_name("NAME");
  command->add_option("--slice", a->slice, "draw this slice of a grid ([[output.slice]]) instead of the whole")
      ->type_name("NAME");
  command->add_option("--time", a->time, "last, first, all (one picture per output), or a time: the nearest output")
      ->type_name("T")
      ->capture_default_str();
  command
      ->add_option(
          "--clip", a->clip,
          "axis across which the mesh is cut open (default: y; of a structured grid: the one with the fewest cells; of "
          "a layer of elements: none); none: from outside, of a sphere one half instead of both")
      ->check(CLI::IsMember({"x", "y", "z", "none"}));
  command
      ->add_option(
          "--view", a->view,
          "viewing direction: azimuth,elevation in degrees (default: -70,18; of a layer of elements: from above)")
      ->type_name("A,E");
  command->add_option("--at", a->at, "cut at this fraction of the extent, 0 to 1 (default: 0.5)")->type_name("SHARE");
  command->add_option("--range", a->range, "range of the colour scale (default: of the field)")->type_name("MIN,MAX");
  command
      ->add_option("--colours", a->colours,
                   "warm, signed (diverging), auto (default: signed for numbers with a sign), or a map of matplotlib")
      ->type_name("MAP");
  command->add_option("--title", a->title, "title of the picture")->type_name("TEXT");
  command->add_option("--dpi", a->dpi, "dots per inch")->type_name("N");
  command->add_flag("--history", a->history, "draw curves over time instead: diagnostics and probes");
  command
      ->add_option("--timeline", a->timeline,
                   "draw the activity of all devices over time instead, from the file of tutti run --trace")
      ->type_name("FILE");
  command->add_option("--step", a->step, "the step that --timeline shows")->type_name("N");
  command
      ->add_option("-o,--output", a->output,
                   "picture to write (default: DIR/plot.png, DIR/history.png, or FILE with .png)")
      ->type_name("FILE.png");
  command->footer(
      "Examples:\n  tutti plot results/heart\n  tutti plot results/heart --field u --time all -o heart.png\n"
      "  tutti plot results/heart --history\n"
      "  tutti plot results/vortex --view 0,60 --field front\n\n"
      "Needs Python with numpy and matplotlib. TUTTI_PYTHON names another interpreter than the system's python3.");
  command->callback([a, &action] {
    action = [a](const Comm& comm) {
      comm.together([&] {
        if (comm.is_root()) plot(*a);
      });
    };
  });
}

}  // namespace tutti::app
