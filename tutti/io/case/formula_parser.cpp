#include "tutti/io/case/formula_parser.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <numbers>
#include <string_view>

#include "tutti/base/error.hpp"
#include "tutti/base/units.hpp"

namespace tutti {
namespace {

struct Function {
  FormulaOp op;
  int least, most;  ///< parameters; min and max take any number
};

constexpr int any_number = 1 << 20;

const std::map<std::string, Function, std::less<>>& functions() {
  static const std::map<std::string, Function, std::less<>> table = {
      {"abs", {FormulaOp::abs, 1, 1}},          {"acos", {FormulaOp::acos, 1, 1}},
      {"asin", {FormulaOp::asin, 1, 1}},        {"atan", {FormulaOp::atan, 1, 1}},
      {"atan2", {FormulaOp::atan2, 2, 2}},      {"ceil", {FormulaOp::ceil, 1, 1}},
      {"cos", {FormulaOp::cos, 1, 1}},          {"cosh", {FormulaOp::cosh, 1, 1}},
      {"erf", {FormulaOp::erf, 1, 1}},          {"exp", {FormulaOp::exp, 1, 1}},
      {"floor", {FormulaOp::floor, 1, 1}},      {"if", {FormulaOp::choose, 3, 3}},
      {"log", {FormulaOp::log, 1, 1}},          {"log10", {FormulaOp::log10, 1, 1}},
      {"max", {FormulaOp::max, 1, any_number}}, {"min", {FormulaOp::min, 1, any_number}},
      {"pow", {FormulaOp::power, 2, 2}},        {"sign", {FormulaOp::sign, 1, 1}},
      {"sin", {FormulaOp::sin, 1, 1}},          {"sinh", {FormulaOp::sinh, 1, 1}},
      {"sqrt", {FormulaOp::sqrt, 1, 1}},        {"step", {FormulaOp::step, 1, 1}},
      {"tan", {FormulaOp::tan, 1, 1}},          {"tanh", {FormulaOp::tanh, 1, 1}},
  };
  return table;
}

/// What a name stands for, as steps.
const std::map<std::string, std::vector<FormulaStep>, std::less<>>& values() {
  using enum FormulaOp;
  static const std::map<std::string, std::vector<FormulaStep>, std::less<>> named = {
      {"x", {{x, 0}}},
      {"y", {{y, 0}}},
      {"z", {{z, 0}}},
      {"t", {{t, 0}}},
      {"pi", {{constant, std::numbers::pi}}},
      {"e", {{constant, std::numbers::e}}},
      // Seen from the origin; at the poles the longitude is 0, also where x is -0: -0 + 0 is 0.
      {"lon", {{y, 0}, {x, 0}, {constant, 0}, {add, 0}, {atan2, 0}}},
      {"lat", {{z, 0}, {x, 0}, {square, 0}, {y, 0}, {square, 0}, {add, 0}, {sqrt, 0}, {atan2, 0}}},
  };
  return named;
}

struct Operator {
  std::string_view text;
  int level;
  FormulaOp op;
};

// A longer text stands before those that it begins with.
constexpr Operator operators[] = {
    {"||", 1, FormulaOp::either},        {"&&", 2, FormulaOp::both},    {"<=", 3, FormulaOp::less_equal},
    {">=", 3, FormulaOp::greater_equal}, {"==", 3, FormulaOp::equal},   {"!=", 3, FormulaOp::not_equal},
    {"<", 3, FormulaOp::less},           {">", 3, FormulaOp::greater},  {"+", 4, FormulaOp::add},
    {"-", 4, FormulaOp::subtract},       {"*", 5, FormulaOp::multiply}, {"/", 5, FormulaOp::divide},
};

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
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
bool starts_number(std::string_view s, std::size_t i) {
  return is_digit(s[i]) || (s[i] == '.' && i + 1 < s.size() && is_digit(s[i + 1]));
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
std::size_t skip_name(std::string_view s, std::size_t i) {
  while (i < s.size() && continues_name(s[i])) ++i;
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

bool is_given(const FormulaNames& names, const std::string& name) {
  return names.constants.contains(name) || names.tables.contains(name) || names.fields.contains(name);
}

/// Checks that the text has only arithmetic characters and known names: the nearest one helps more than what a grammar
/// could say. Notes the names used.
void check_words(const std::string& text, const std::string& where, const FormulaNames& names, ParsedFormula& formula) {
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (starts_number(text, i)) {
      i = skip_number(text, i);
    } else if (starts_name(c)) {
      const std::size_t end = skip_name(text, i);
      const std::string name = text.substr(i, end - i);
      const bool solution = names.solution && name == "u" && !is_given(names, name);
      formula.uses_solution = formula.uses_solution || solution;
      if (!functions().contains(name) && !values().contains(name) && !is_given(names, name) && !solution) {
        auto known = formula_functions();
        for (const auto& [value, _] : values()) known.push_back(value);
        for (const auto& [constant, _] : names.constants) known.push_back(constant);
        for (const auto& [table, _] : names.tables) known.push_back(table);
        for (const auto& [field, _] : names.fields) known.push_back(field);
        const auto nearest = nearest_name(name, known);
        fail_at(where, text, i,
                fmt::format("unknown name '{}'; {}", name,
                            nearest.empty() ? "known are x, y, z, lon, lat, t and functions such as sin"
                                            : "did you mean '" + nearest + "'?"));
      }
      formula.uses_time = formula.uses_time || name == "t";
      formula.uses_space = formula.uses_space || names.fields.contains(name) ||
                           (values().contains(name) && name != "t" && name != "pi" && name != "e");
      if (const auto field = names.fields.find(name); field != names.fields.end() && field->second == nullptr)
        fail_at(where, text, i,
                fmt::format("'{}' is a [[field]], which this key cannot name; write a formula here", name));
      i = end;
    } else if (c == '=') {
      const bool pair = i + 1 < text.size() && text[i + 1] == '=';
      const bool comparison = i > 0 && (text[i - 1] == '<' || text[i - 1] == '>' || text[i - 1] == '!');
      if (!pair && !comparison) fail_at(where, text, i, "'=' is not an operator; a comparison is written '=='");
      i += pair ? 2 : 1;
    } else if (std::string_view("+-*/^(),?:<>!&| \t\r\n").find(c) != std::string_view::npos) {
      ++i;
    } else {
      const bool printable = std::isprint(static_cast<unsigned char>(c));
      fail_at(where, text, i,
              printable ? fmt::format("'{}' has no meaning; only names, numbers, parentheses and operators do", c)
                        : fmt::format("byte 0x{:02x} has no meaning; only names, numbers, parentheses and operators do",
                                      static_cast<unsigned char>(c)));
    }
  }
}

/// By recursive descent; each member reads one rule of the grammar and leaves its steps behind.
class Parser {
 public:
  Parser(const std::string& text, const std::string& where, const FormulaNames& names, ParsedFormula& formula)
      : text_(text), where_(where), names_(names), formula_(formula), steps_(formula.steps) {}

  void formula() {
    expression();
    if (next() == ',') fail_at(where_, text_, at_, "one value is expected, not a list");
    if (at_ < text_.size()) unexpected();
  }

 private:
  /// condition ? a : b
  void expression() {
    const Level level(*this);
    binary(1);
    if (!take("?")) return;
    expression();
    if (!take(":")) {
      if (at_ < text_.size()) unexpected();
      refuse("the condition has no else part");
    }
    expression();
    emit(FormulaOp::choose);
  }

  /// Operators of at least this level, to the left.
  void binary(int level) {
    sign();
    while (true) {
      next();
      const std::string_view rest = std::string_view(text_).substr(at_);
      const auto* const o = std::find_if(std::begin(operators), std::end(operators),
                                         [&](const Operator& k) { return rest.substr(0, k.text.size()) == k.text; });
      if (o == std::end(operators) || o->level < level) return;
      at_ += o->text.size();
      binary(o->level + 1);
      emit(o->op);
    }
  }

  void sign() {
    const bool minus = take("-");
    const bool any = minus || take("+");
    if (any && (next() == '-' || next() == '+')) unexpected();
    power();
    if (minus) emit(FormulaOp::negate);
  }

  void power() {
    const Level level(*this);
    operand();
    if (!take("^")) return;
    sign();
    // Powers that are most used, by products.
    const double exponent = steps_.back().op == FormulaOp::constant ? steps_.back().value : 0;
    if (exponent == 2 || exponent == 3 || exponent == 4) {
      steps_.pop_back();
      --depth_;
      emit(exponent == 2 ? FormulaOp::square : exponent == 3 ? FormulaOp::cube : FormulaOp::fourth);
    } else {
      emit(FormulaOp::power);
    }
  }

  /// A number, a name, a call, or brackets.
  void operand() {
    const char c = next();
    if (at_ == text_.size()) refuse("the text ends too early");
    if (starts_number(text_, at_)) {
      number();
    } else if (take("(")) {
      expression();
      close();
    } else if (starts_name(c)) {
      const std::string name = word();
      if (const auto value = values().find(name); value != values().end()) {
        for (const FormulaStep& step : value->second)
          if (formula_operands(step.op) == 0)
            push(step);
          else
            emit(step.op);
        at_ += name.size();
      } else if (const auto constant = names_.constants.find(name); constant != names_.constants.end()) {
        push({FormulaOp::constant, constant->second});
        at_ += name.size();
      } else if (const auto field = names_.fields.find(name); field != names_.fields.end()) {
        formula_.samples.emplace_back(steps_.size(), field->second);
        push({FormulaOp::sample, 0});
        at_ += name.size();
      } else if (name == "u" && formula_.uses_solution) {
        push({FormulaOp::u, 0});
        at_ += name.size();
      } else if (const auto table = names_.tables.find(name); table != names_.tables.end()) {
        look_up(name, table->second);
      } else {
        call(name);
      }
    } else {
      unexpected();
    }
  }

  void number() {
    const std::size_t end = skip_number(text_, at_);
    double value = 0;
    const auto result = std::from_chars(text_.data() + at_, text_.data() + end, value);
    if (result.ec != std::errc()) refuse(fmt::format("{} is out of a number's range", text_.substr(at_, end - at_)));
    push({FormulaOp::constant, value});
    at_ = end;
  }

  void call(const std::string& name) {
    const Function& function = functions().find(name)->second;
    at_ += name.size();
    if (!take("(")) refuse(fmt::format("'{}' is a function and needs its parameters in parentheses", name));
    int count = 0;
    if (next() != ')') {
      do {
        if (++count > function.most) refuse(fmt::format("too many parameters for function '{}'", name));
        expression();
        if (function.most == any_number && count > 1) emit(function.op);
      } while (take(","));
    }
    if (next() == ')' && count < function.least) refuse(fmt::format("too few parameters for function '{}'", name));
    close();
    if (function.most != any_number) emit(function.op);
  }

  void look_up(const std::string& name, const FormulaTable& table) {
    at_ += name.size();
    if (!take("(")) refuse(fmt::format("'{}' is a table and needs what it is asked for in parentheses", name));
    expression();
    close();
    const std::size_t argument = steps_.size() - 1, rows = table.x.size();
    steps_.push_back({FormulaOp::table, static_cast<double>(rows)});
    for (const auto* values : {&table.x, &table.y})
      for (const double value : *values) steps_.push_back({FormulaOp::data, value});
    if (steps_[argument].op != FormulaOp::constant) return;
    const double value = table_value(&steps_[argument + 2], static_cast<int>(rows), steps_[argument].value);
    steps_.resize(argument);
    steps_.push_back({FormulaOp::constant, value});
  }

  void close() {
    if (take(")")) return;
    if (at_ == text_.size()) refuse("missing parenthesis");
    unexpected();
  }

  char next() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(std::string_view token) {
    next();
    if (std::string_view(text_).substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  std::string word() const { return text_.substr(at_, skip_name(text_, at_) - at_); }

  void push(FormulaStep step) {
    if (++depth_ > formula_depth)
      refuse(fmt::format("more than {} intermediate values at once; write it with fewer parentheses", formula_depth));
    steps_.push_back(step);
  }

  /// Adds a step, or does it at once where all it takes are constants.
  void emit(FormulaOp op) {
    const int operands = formula_operands(op);
    depth_ -= operands - 1;
    steps_.push_back({op, 0});
    const auto first = steps_.end() - operands - 1;
    if (!std::all_of(first, steps_.end() - 1, [](const FormulaStep& s) { return s.op == FormulaOp::constant; })) return;
    const double value = evaluate_formula(&*first, operands + 1, {}, 0);
    steps_.erase(first + 1, steps_.end());
    steps_.back().value = value;
  }

  [[noreturn]] void refuse(const std::string& why) const {
    fail_at(where_, text_, at_, why + "; a formula such as 2*sin(x) is expected");
  }
  [[noreturn]] void unexpected() const {
    const char c = text_[at_];
    if (starts_number(text_, at_))
      refuse(fmt::format("unexpected value '{}'", text_.substr(at_, skip_number(text_, at_) - at_)));
    if (starts_name(c))
      refuse(fmt::format("unexpected {} '{}'", functions().contains(word()) ? "function" : "variable", word()));
    refuse(fmt::format("unexpected {} '{}'", c == '(' || c == ')' ? "parenthesis" : "operator", c));
  }

  /// How deep the rules are in each other: a text of brackets must not exhaust the thread's stack.
  struct Level {
    explicit Level(Parser& p) : parser(p) {
      if (++parser.level_ > 400) parser.refuse("too many nested parentheses");
    }
    ~Level() { --parser.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    Parser& parser;
  };

  const std::string& text_;
  const std::string& where_;
  const FormulaNames& names_;
  ParsedFormula& formula_;
  std::vector<FormulaStep>& steps_;
  std::size_t at_ = 0;
  int depth_ = 0, level_ = 0;
};

}  // namespace

ParsedFormula parse_formula(const std::string& text, const std::string& where, const FormulaNames& names) {
  ParsedFormula formula;
  check_words(text, where, names, formula);
  Parser(text, where, names, formula).formula();
  return formula;
}

std::vector<std::string> formula_functions() {
  std::vector<std::string> names;
  for (const auto& [name, _] : functions()) names.push_back(name);
  return names;
}

bool may_name_constant(const std::string& name) {
  return !name.empty() && starts_name(name[0]) && skip_name(name, 0) == name.size() && !functions().contains(name) &&
         !values().contains(name);
}

std::vector<std::string> names_in_formula(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    if (starts_number(text, i)) {
      i = skip_number(text, i);
    } else if (starts_name(text[i])) {
      i = skip_name(text, i);
      names.push_back(text.substr(begin, i - begin));
    } else {
      ++i;
    }
  }
  return names;
}

}  // namespace tutti
