#include "tutti/models/diffusion/ionic/ionic_case.hpp"

#include <algorithm>
#include <cmath>

#include "tutti/simulation/evaluate.hpp"

namespace tutti::diffusion {
namespace {

const KeyCondition reaction = {"ionic.model", {"fitzhugh-nagumo", "mitchell-schaeffer", "ten-tusscher-panfilov"}};
const KeyCondition fitzhugh = {"ionic.model", {"fitzhugh-nagumo"}};
const KeyCondition mitchell = {"ionic.model", {"mitchell-schaeffer"}};
const KeyCondition small_models = {"ionic.model", {"fitzhugh-nagumo", "mitchell-schaeffer"}};
const KeyCondition ten_tusscher = {"ionic.model", {"ten-tusscher-panfilov"}};

struct Constant {
  const char* name;
  const char* standard;
  const char* unit;
  const char* description;
};
constexpr Constant fitzhugh_constants[] = {{"a", "0.1", "", "Threshold of excitation."},
                                           {"epsilon", "0.01", "", "Ratio of the rates of w and u."},
                                           {"gamma", "0.5", "", "w relaxes towards u / gamma."},
                                           {"rate", "1", "1/s", "Rate of the reaction; its unit of time is 1 / rate."}};
constexpr Constant mitchell_constants[] = {{"tau_in", "0.3", "s", "Time constant of the inward current."},
                                           {"tau_out", "6", "s", "Time constant of the outward current."},
                                           {"tau_open", "120", "s", "Time constant of the opening gate."},
                                           {"tau_close", "150", "s", "Time constant of the closing gate."},
                                           {"gate", "0.13", "", "u above which the gate closes."}};

void add_constants(CaseSchema& schema, std::span<const Constant> constants, const KeyCondition& condition) {
  for (const Constant& c : constants)
    schema.add({.path = std::string("ionic.") + c.name,
                .type = KeyType::number,
                .default_value = c.standard,
                .unit = c.unit,
                .description = c.description,
                .min = 0,
                .above_min = !std::string_view(c.unit).empty(),
                .only_if = condition});
}

Expression steady(const Case& options, const std::string& path) {
  Expression e = options.expression(path);
  require_steady(e, options.where(path), path);
  return e;
}

Stimulus read_stimulus(const Case& options, int k) {
  const std::string table = fmt::format("ionic.stimulus[{}]", k);
  Stimulus s;
  s.where = steady(options, table + ".where");
  s.place = options.where(table + ".where");
  s.start = options.number(table + ".start");
  s.duration = options.number(table + ".duration");
  s.strength = options.number(table + ".strength");
  if (!options.has(table + ".period")) return s;
  s.period = options.number(table + ".period");
  if (s.period < s.duration)
    fail(ErrorKind::input, "{}: a period of {:g} is shorter than the pulse, {:g}; make it longer",
         options.where(table + ".period"), s.period, s.duration);
  return s;
}

}  // namespace

void add_ionic_keys(CaseSchema& schema) {
  schema.describe_table("ionic",
                        "Excitable cells (the monodomain equation): du/dt = div(K grad u) + source - I(u, state), by "
                        "operator splitting.");
  schema.add({.path = "ionic.model",
              .type = KeyType::choice,
              .default_value = "\"none\"",
              .description =
                  "fitzhugh-nagumo: du/dt = rate (u (1 - u) (u - a) - w), dw/dt = rate epsilon (u - gamma w). "
                  "mitchell-schaeffer (2003): du/dt = h u^2 (1 - u) / tau_in - u / tau_out, h opens below `gate` and "
                  "closes above. ten-tusscher-panfilov (2006): human ventricle, 18 variables besides u; u in mV, times "
                  "in ms.",
              .choices = {"none", "fitzhugh-nagumo", "mitchell-schaeffer", "ten-tusscher-panfilov"}});
  schema.add({.path = "ionic.splitting",
              .type = KeyType::choice,
              .default_value = "\"godunov\"",
              .description = "godunov: a step of diffusion, then one of the reaction; first order. strang: half a step "
                             "of diffusion, a step of the reaction by a midpoint rule, half a step of diffusion; "
                             "second order if time.method is, at nearly twice the cost.",
              .choices = {"godunov", "strang"},
              .only_if = reaction});
  add_constants(schema, fitzhugh_constants, fitzhugh);
  add_constants(schema, mitchell_constants, mitchell);
  schema.add({.path = "ionic.recovery",
              .type = KeyType::expression,
              .description = "w or h at t = 0; default: the value at rest, w = 0 or h = 1.",
              .only_if = small_models});
  schema.add({.path = "ionic.layer",
              .type = KeyType::expression,
              .default_value = "0",
              .description = "Cell type: 0 epicardial, 1 mid-myocardial (M), 2 endocardial.",
              .only_if = ten_tusscher});
  schema.add({.path = "ionic.activation",
              .type = KeyType::number,
              .description = "Threshold of u. Adds the field `activation`: the time at which u first rises through the "
                             "threshold, -1 where it has not.",
              .only_if = reaction});
  schema.add(
      {.path = "ionic.output",
       .type = KeyType::boolean,
       .default_value = "false",
       .description = "Also write the cells' state variables, as the field `ionic`. Checkpoints always contain them.",
       .only_if = reaction});
  schema.describe_table("ionic.stimulus[]", "A stimulus current in some of the cells; at most eight tables.");
  schema.add({.path = "ionic.stimulus[].where",
              .type = KeyType::expression,
              .description = "Cells are stimulated where this is not 0 at their centroid.",
              .required = true,
              .only_if = reaction});
  schema.add({.path = "ionic.stimulus[].start",
              .type = KeyType::number,
              .default_value = "0",
              .unit = "s",
              .description = "Start of the first pulse.",
              .min = 0,
              .only_if = reaction});
  schema.add({.path = "ionic.stimulus[].duration",
              .type = KeyType::number,
              .unit = "s",
              .description = "Length of a pulse.",
              .min = 0,
              .above_min = true,
              .required = true,
              .only_if = reaction});
  schema.add({.path = "ionic.stimulus[].period",
              .type = KeyType::number,
              .unit = "s",
              .description = "Time between the starts of two pulses; default: a single pulse.",
              .min = 0,
              .above_min = true,
              .only_if = reaction});
  schema.add({.path = "ionic.stimulus[].strength",
              .type = KeyType::number,
              .unit = "1/s",
              .description = "Rate of change of u: the stimulus current divided by the membrane's capacitance.",
              .required = true,
              .only_if = reaction});
}

std::optional<IonicCase> ionic_case(const Case& options) {
  const std::string model = options.text("ionic.model");
  if (model == "none") return {};
  IonicCase ionic;
  const auto read_constants = [&](IonicKind kind, std::span<const Constant> constants) {
    ionic.kind = kind;
    for (std::size_t k = 0; k < constants.size(); ++k)
      ionic.constants.value[k] = options.number(std::string("ionic.") + constants[k].name);
  };
  if (model == "fitzhugh-nagumo") {
    read_constants(IonicKind::fitzhugh_nagumo, fitzhugh_constants);
    ionic.recovery = Expression(0.0);
  } else if (model == "mitchell-schaeffer") {
    read_constants(IonicKind::mitchell_schaeffer, mitchell_constants);
    ionic.recovery = Expression(1.0);
  } else {
    ionic.kind = IonicKind::ten_tusscher;
    ionic.layer = steady(options, "ionic.layer");
    ionic.layer_place = options.where("ionic.layer");
  }
  if (options.has("ionic.recovery")) ionic.recovery = steady(options, "ionic.recovery");
  ionic.strang = options.text("ionic.splitting") == "strang";
  if (options.has("ionic.activation")) ionic.threshold = options.number("ionic.activation");
  ionic.output = options.flag("ionic.output");
  const int stimuli = options.count("ionic.stimulus");
  if (stimuli > most_stimuli)
    fail(ErrorKind::input,
         "{}: there are {} [[ionic.stimulus]], but {} is the most; give one a period, or `where` more "
         "than one place",
         options.where(fmt::format("ionic.stimulus[{}].where", most_stimuli)), stimuli, most_stimuli);
  for (int k = 0; k < stimuli; ++k) ionic.stimuli.push_back(read_stimulus(options, k));
  const std::string method = options.text("time.method");
  if (method == "steady" || method == "bdf2")
    fail(ErrorKind::input, "{}: {} does not work with ionic.model = \"{}\"{}; take another method",
         options.where("time.method"), method, model,
         method == "bdf2" ? ", as it looks back across the reaction" : ": excited cells are not steady");
  return ionic;
}

std::vector<std::string> IonicCase::variables() const {
  switch (kind) {
    case IonicKind::fitzhugh_nagumo:
      return {"w"};
    case IonicKind::mitchell_schaeffer:
      return {"h"};
    default:
      return {"xr1",   "xr2", "xs", "m", "h",    "j",     "d",     "f",    "f2",
              "fCass", "s",   "r",  "R", "Ca_i", "Ca_SR", "Ca_ss", "Na_i", "K_i"};
  }
}

double IonicCase::rest() const {
  return kind == IonicKind::ten_tusscher ? TenTusscher::rest()[0] : 0;
}

double IonicCase::largest_step() const {
  const double* c = constants.value;
  switch (kind) {
    // Euler's 2 / |dI/du| at u = 1, halved: stimuli lead beyond.
    case IonicKind::fitzhugh_nagumo:
      return 1 / (c[3] * std::max(1.0, c[1] * c[2]));
    case IonicKind::mitchell_schaeffer:
      return 1 / (1 / c[0] + 1 / c[1]);
    default:
      return 0.1;
  }
}

double Stimulus::mean(double time, double dt) const {
  const auto overlap = [&](double begin) {
    return std::max(0.0, std::min(time + dt, begin + duration) - std::max(time, begin));
  };
  if (period == 0) return strength * overlap(start) / dt;
  // A step may be longer than a period; of very many, or where numbers have no digits left for one, the mean counts.
  const double first = std::max(0.0, std::floor((time - start - duration) / period));
  const double last = (time + dt - start) / period;
  if (last - first > 1e4 || last > 1e15)
    return strength * (duration / period) * ((time + dt - std::max(time, start)) / dt);
  double total = 0;
  for (double k = first; start + k * period < time + dt; ++k) total += overlap(start + k * period);
  return strength * total / dt;
}

}  // namespace tutti::diffusion
