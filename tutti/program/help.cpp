#include "tutti/program/help_internal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "tutti/base/units.hpp"

namespace tutti {
namespace {

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, by);) words.push_back(word);
  return words;
}

std::string join(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const auto& w : words) text += (text.empty() ? "" : between) + w;
  return text;
}

/// Whether CLI11 describes a check by this text: IsMember, Range, PositiveNumber, NonNegativeNumber.
bool is_check(const std::string& text) {
  return text.starts_with('{') || text.find(" in [") != std::string::npos || text == "POSITIVE" ||
         text == "NONNEGATIVE";
}

/// The type's own part of "TEXT:{a,b}" or "INT:INT in [1 - 4096]", all of "A:B": CLI11 puts checks behind a colon.
std::string plain_type(const CLI::Option& option) {
  std::vector<std::string> words = split(option.get_type_name(), ':');
  words.erase(std::find_if(words.begin(), words.end(), is_check), words.end());
  return join(words, ":");
}

class HelpFormat : public CLI::Formatter {
 public:
  HelpFormat() { column_width(30); }

  std::string make_usage(const CLI::App* app, std::string /*name*/) const override {
    std::string text = "\nUsage: " + full_name(*app);
    bool optional = false;
    for (const CLI::Option* o : app->get_options()) {
      if (o->get_positional()) {
        text += " " + (o->get_required() ? value_name(*o) : "[" + value_name(*o) + "]");
      } else if (o->get_required()) {
        text += " " + o->get_name(false, true).substr(0, o->get_name(false, true).find(',')) + " " + value_name(*o);
      } else {
        optional = optional || !o->get_group().empty();
      }
    }
    if (!subcommands_of(*app).empty()) text += " SUBCOMMAND";
    return text + (optional ? " [OPTIONS]\n" : "\n");
  }

  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    return is_positional ? value_name(*option) : Formatter::make_option_name(option, false);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0 || option->get_positional()) return "";
    std::string text = " " + value_name(*option);
    if (option->get_expected_min() > 1 && option->get_expected_max() == option->get_expected_min())
      for (int i = 1; i < option->get_expected_min(); ++i) text += " " + value_name(*option);
    return text;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description(), value = option->get_default_str();
    if (value.size() > 1 && value.front() == '[') {  // a list, as it is typed
      value = value.substr(1, value.size() - 2);
      std::replace(value.begin(), value.end(), ',', ' ');
    }
    if (!value.empty()) text += " (default: " + value + ")";
    if (option->get_required() && !option->get_positional()) text += " (required)";
    return text;
  }
};

/// An option of the command or of those above it.
const CLI::Option* find_option(const CLI::App& command, const std::string& name) {
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent())
    if (const CLI::Option* o = app->get_option_no_throw(name); o != nullptr && !o->get_positional()) return o;
  return nullptr;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent())
    for (const CLI::Option* o : app->get_options())
      if (!o->get_group().empty())
        for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string with_nearest(const std::string& word, const std::vector<std::string>& names) {
  const std::string nearest = nearest_name(word, names);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

}  // namespace

std::shared_ptr<CLI::FormatterBase> make_help_format() {
  return std::make_shared<HelpFormat>();
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto open = type.find('{'), close = type.rfind('}');
  if (open != std::string::npos && close != std::string::npos)
    return split(type.substr(open + 1, close - open - 1), ',');
  if (type.find('|') != std::string::npos) return split(plain_type(option), '|');
  return {};
}

std::string value_name(const CLI::Option& option) {
  const auto choices = choices_of(option);
  if (!choices.empty()) return join(choices, "|");
  const std::string type = plain_type(option);
  if (type == "INT" || type == "UINT") return "N";
  return type == "FLOAT" ? "X" : type;
}

std::string full_name(const CLI::App& command) {
  if (command.get_parent() == nullptr) return command.get_name();
  return full_name(*command.get_parent()) + " " + command.get_name();
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& command) {
  return command.get_subcommands(
      [](const CLI::App* sub) { return !sub->get_name().empty() && !sub->get_group().empty(); });
}

std::string explain_command_line(const CLI::App& program, const std::vector<std::string>& arguments,
                                 const std::string& message) {
  const CLI::App* command = &program;
  const auto see = [&] { return fmt::format("; see {} --help", full_name(*command)); };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--") break;
    if (word.size() > 1 && word[0] == '-') {
      const std::string name = word.substr(0, word.find('='));
      const CLI::Option* option = find_option(*command, word.starts_with("--") ? name : word.substr(0, 2));
      if (option == nullptr && word.find_first_of("0123456789") == 1) continue;  // a negative number
      if (option == nullptr)
        return fmt::format("unknown option '{}' of {}{}{}", name, full_name(*command),
                           with_nearest(name, option_names(*command)), see());
      const bool has_value = name != word || (!word.starts_with("--") && word.size() > 2);
      if (!has_value) i += static_cast<std::size_t>(std::min(option->get_items_expected_min(), 8));
      continue;
    }
    const auto subcommands = subcommands_of(*command);
    if (subcommands.empty()) continue;  // a positional argument
    const auto next = std::find_if(subcommands.begin(), subcommands.end(),
                                   [&](const CLI::App* sub) { return sub->get_name() == word; });
    if (next == subcommands.end()) {
      std::vector<std::string> names;
      for (const CLI::App* sub : subcommands) names.push_back(sub->get_name());
      const std::string hint = with_nearest(word, names);
      return fmt::format("unknown subcommand '{}' of {}{}{}", word, full_name(*command),
                         hint.empty() ? "; it has " + join(names, ", ") : hint, see());
    }
    command = *next;
  }
  // What CLI11 says about the right words: a missing argument, a value out of range.
  if (message == "A subcommand is required") {
    std::vector<std::string> names;
    for (const CLI::App* sub : subcommands_of(*command)) names.push_back(sub->get_name());
    return fmt::format("{} needs a subcommand: {}{}", full_name(*command), join(names, ", "), see());
  }
  return full_name(*command) + ": " + message + see();
}

}  // namespace tutti
