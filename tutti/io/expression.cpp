#include "tutti/io/expression.hpp"

#include <muParser.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <numbers>
#include <string_view>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/units.hpp"

namespace tutti {
namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

const std::map<std::string, Unary>& unary_functions() {
  static const std::map<std::string, Unary> table = {
      {"abs", [](double a) { return std::abs(a); }},
      {"acos", [](double a) { return std::acos(a); }},
      {"asin", [](double a) { return std::asin(a); }},
      {"atan", [](double a) { return std::atan(a); }},
      {"ceil", [](double a) { return std::ceil(a); }},
      {"cos", [](double a) { return std::cos(a); }},
      {"cosh", [](double a) { return std::cosh(a); }},
      {"erf", [](double a) { return std::erf(a); }},
      {"exp", [](double a) { return std::exp(a); }},
      {"floor", [](double a) { return std::floor(a); }},
      {"log", [](double a) { return std::log(a); }},
      {"log10", [](double a) { return std::log10(a); }},
      {"sign", [](double a) { return a > 0   ? 1.0
                                     : a < 0 ? -1.0
                                             : 0.0; }},
      {"sin", [](double a) { return std::sin(a); }},
      {"sinh", [](double a) { return std::sinh(a); }},
      {"sqrt", [](double a) { return std::sqrt(a); }},
      {"step", [](double a) { return a >= 0 ? 1.0 : 0.0; }},
      {"tan", [](double a) { return std::tan(a); }},
      {"tanh", [](double a) { return std::tanh(a); }},
  };
  return table;
}

const std::map<std::string, Binary>& binary_functions() {
  static const std::map<std::string, Binary> table = {
      {"atan2", [](double a, double b) { return std::atan2(a, b); }},
      {"pow", [](double a, double b) { return std::pow(a, b); }},
  };
  return table;
}

double smallest(const double* values, int n) {
  return *std::min_element(values, values + n);
}
double largest(const double* values, int n) {
  return *std::max_element(values, values + n);
}
double choose(double condition, double a, double b) {
  return condition != 0 ? a : b;
}

std::vector<std::string> known_names() {
  auto names = Expression::function_names();
  for (const char* n : {"x", "y", "z", "t", "pi", "e"}) names.emplace_back(n);
  return names;
}

bool starts_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}
bool continues_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// End of the number that begins at `i`: digits, point, exponent.
std::size_t skip_number(std::string_view s, std::size_t i) {
  while (i < s.size() && is_digit(s[i])) ++i;
  if (i < s.size() && s[i] == '.') ++i;
  while (i < s.size() && is_digit(s[i])) ++i;
  if (i < s.size() && (s[i] == 'e' || s[i] == 'E')) {
    std::size_t j = i + 1;
    if (j < s.size() && (s[j] == '+' || s[j] == '-')) ++j;
    if (j < s.size() && is_digit(s[j])) {
      while (j < s.size() && is_digit(s[j])) ++j;
      i = j;
    }
  }
  return i;
}

[[noreturn]] void fail_at(const std::string& where, const std::string& text, std::size_t position,
                          const std::string& why) {
  const std::string prefix = where.empty() ? "" : where + ": ";
  std::string shown = text.size() <= 200 ? text : text.substr(0, 197) + "...";
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  fail(ErrorKind::input, "{}in the expression \"{}\", character {}: {}", prefix, shown, position + 1, why);
}

/// Checks the text before muparser sees it: only arithmetic characters and known names. muparser would also take
/// assignments to variables and text constants. Returns the names used.
std::vector<std::string> check_words(const std::string& text, const std::string& where) {
  const auto known = known_names();
  std::vector<std::string> used;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (is_digit(c) || (c == '.' && i + 1 < text.size() && is_digit(text[i + 1]))) {
      i = skip_number(text, i);
    } else if (starts_name(c)) {
      std::size_t end = i;
      while (end < text.size() && continues_name(text[end])) ++end;
      const std::string name = text.substr(i, end - i);
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        const auto nearest = nearest_name(name, known);
        fail_at(where, text, i,
                fmt::format("unknown name '{}'; {}", name,
                            nearest.empty() ? "known are x, y, z, t and functions such as sin"
                                            : "did you mean '" + nearest + "'?"));
      }
      used.push_back(name);
      i = end;
    } else if (c == '=') {
      const bool pair = i + 1 < text.size() && text[i + 1] == '=';
      const bool comparison = i > 0 && (text[i - 1] == '<' || text[i - 1] == '>' || text[i - 1] == '!');
      if (!pair && !comparison) fail_at(where, text, i, "'=' assigns nothing here; a comparison is written '=='");
      i += pair ? 2 : 1;
    } else if (std::string_view("+-*/^(),?:<>!&| \t\r\n").find(c) != std::string_view::npos) {
      ++i;
    } else {
      const bool printable = std::isprint(static_cast<unsigned char>(c));
      fail_at(where, text, i,
              printable
                  ? fmt::format("'{}' has no meaning; only names, numbers, brackets and operators have one", c)
                  : fmt::format("byte 0x{:02x} has no meaning; only names, numbers, brackets and operators have one",
                                static_cast<unsigned char>(c)));
    }
  }
  return used;
}

}  // namespace

/// muparser's compiled form, and the variables it reads.
struct Expression::Program {
  mu::Parser parser;
  double x = 0, y = 0, z = 0, t = 0;

  explicit Program(const std::string& text) {
    parser.ClearFun();
    parser.ClearConst();
    for (const auto& [name, function] : unary_functions()) parser.DefineFun(name, function);
    for (const auto& [name, function] : binary_functions()) parser.DefineFun(name, function);
    parser.DefineFun("if", choose);
    parser.DefineFun("min", smallest);
    parser.DefineFun("max", largest);
    parser.DefineConst("pi", std::numbers::pi);
    parser.DefineConst("e", std::numbers::e);
    parser.DefineVar("x", &x);
    parser.DefineVar("y", &y);
    parser.DefineVar("z", &z);
    parser.DefineVar("t", &t);
    parser.SetExpr(text);
  }
};

namespace {
std::string number_text(double value) {
  return fmt::format("{}", value);
}

/// muparser's message in our manner: without its own position, which counts from 0.
std::string reason(const mu::Parser::exception_type& error) {
  if (error.GetCode() == mu::ecUNEXPECTED_EOF) return "the text ends too early";
  std::string why = error.GetMsg();
  for (const char* tail : {" found at position", " at position", " at expression position"}) {
    if (const auto at = why.find(tail); at != std::string::npos) why.erase(at);
  }
  if (!why.empty()) why[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(why[0])));
  return why;
}
}  // namespace

Expression::Expression() : Expression(0.0) {}

Expression::Expression(double value) : text_(number_text(value)), constant_(value) {
  if (!std::isfinite(value))
    fail(ErrorKind::input, "'{}' is no value of an expression; a finite number is expected", value);
}

Expression::Expression(const std::string& text, std::string where) : text_(text), where_(std::move(where)) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    const std::string prefix = where_.empty() ? "" : where_ + ": ";
    fail(ErrorKind::input, "{}an empty text is no expression; write a number or a formula of x, y, z and t", prefix);
  }
  for (const auto& name : check_words(text, where_)) {
    uses_time_ = uses_time_ || name == "t";
    uses_space_ = uses_space_ || name == "x" || name == "y" || name == "z";
  }
  std::string flat = text;  // muparser takes no line breaks
  std::replace_if(
      flat.begin(), flat.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  try {
    auto program = std::make_unique<Program>(flat);
    const double value = program->parser.Eval();
    if (program->parser.GetNumResults() > 1) fail_at(where_, text, text.find(','), "one value is expected, not a list");
    if (uses_time_ || uses_space_) {
      program_ = std::move(program);
    } else {
      constant_ = finite(value, {}, 0);
    }
  } catch (const mu::Parser::exception_type& error) {
    const int at = error.GetPos();
    fail_at(where_, text, at < 0 ? 0 : std::min(static_cast<std::size_t>(at), text.size()),
            reason(error) + "; a formula such as 2*sin(x) is expected");
  }
}

Expression::Expression(const Expression& other)
    : text_(other.text_),
      where_(other.where_),
      constant_(other.constant_),
      uses_time_(other.uses_time_),
      uses_space_(other.uses_space_) {
  // muparser's program holds pointers to its variables, so a copy is compiled anew (some 10 us).
  if (other.program_) program_ = std::make_unique<Program>(other.program_->parser.GetExpr());
}

Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;

Expression& Expression::operator=(const Expression& other) {
  if (this != &other) *this = Expression(other);
  return *this;
}

double Expression::finite(double value, Vec3 p, double t) const {
  if (std::isfinite(value)) return value;
  const std::string prefix = where_.empty() ? "" : where_ + ": ";
  if (!uses_space_ && !uses_time_)
    fail(ErrorKind::input, "{}the expression \"{}\" is {}; it must be finite", prefix, text_, value);
  fail(ErrorKind::input, "{}the expression \"{}\" is {} at x = {}, y = {}, z = {}, t = {}; it must be finite", prefix,
       text_, value, p.x, p.y, p.z, t);
}

double Expression::operator()(Vec3 p, double t) const {
  if (!program_) return constant_;
  program_->x = p.x;
  program_->y = p.y;
  program_->z = p.z;
  program_->t = t;
  return finite(program_->parser.Eval(), p, t);
}

void Expression::evaluate(std::span<const Vec3> points, double t, std::span<double> out) const {
  require(points.size() == out.size(), "Expression::evaluate: {} points, {} values", points.size(), out.size());
  if (!uses_space_) {
    if (!points.empty()) std::fill(out.begin(), out.end(), (*this)(points[0], t));
    return;
  }
  for (std::size_t i = 0; i < points.size(); ++i) out[i] = (*this)(points[i], t);
}

std::vector<std::string> Expression::function_names() {
  std::vector<std::string> names = {"if", "max", "min"};
  for (const auto& entry : unary_functions()) names.push_back(entry.first);
  for (const auto& entry : binary_functions()) names.push_back(entry.first);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tutti
