// tutti manual: the manual page for `man tutti`, made from the same tree of commands as --help, so that it cannot be
// stale.
#include <fmt/format.h>

#include "app/commands.hpp"
#include "tutti/base/version.hpp"
#include "tutti/program/help_internal.hpp"

namespace tutti::app {
namespace {

/// Text for roff: a minus that can be copied, no line that looks like a request.
std::string roff(const std::string& text) {
  std::string result;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
    begins = c == '\n';
  }
  return result;
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \n") + 1 - begin);
}

/// Lines as they are: examples.
std::string verbatim(const std::string& text) {
  return ".nf\n" + roff(text) + "\n.fi\n";
}

std::string options_of(const CLI::App& app, const CLI::Formatter& format) {
  std::string text;
  for (const bool positional : {true, false})
    for (const CLI::Option* o : app.get_options()) {
      if (o->get_positional() != positional || o->get_group().empty()) continue;
      if (app.get_parent() != nullptr && o == app.get_help_ptr()) continue;  // told once, at the top
      text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(format.make_option_name(o, positional)),
                          roff(format.make_option_opts(o)), roff(format.make_option_desc(o)));
    }
  return text;
}

std::string usage_of(const CLI::App& app, const CLI::Formatter& format) {
  const std::string usage = trimmed(format.make_usage(&app, ""));
  return usage.substr(usage.find(' ') + 1);  // without "Usage:"
}

std::string commands_of(const CLI::App& app, const CLI::Formatter& format) {
  std::string text;
  for (const CLI::App* sub : subcommands_of(app)) {
    text += fmt::format(".SS {}\n{}\n.PP\n\\fB{}\\fR\n{}", roff(full_name(*sub)), roff(sub->get_description()),
                        roff(usage_of(*sub, format)), options_of(*sub, format));
    if (!sub->get_footer().empty()) text += ".PP\n" + verbatim(trimmed(sub->get_footer()));
    text += commands_of(*sub, format);
  }
  return text;
}

std::string manual_page(const CLI::App& program) {
  const auto help = make_help_format();
  const auto& format = dynamic_cast<const CLI::Formatter&>(*help);
  const std::string about = program.get_description();
  return fmt::format(
      ".TH TUTTI 1 \"\" \"tutti {}\" \"User Commands\"\n"
      ".SH NAME\ntutti \\- {}\n"
      ".SH SYNOPSIS\n\\fB{}\\fR\n"
      ".SH OPTIONS\n{}"
      ".SH COMMANDS\n{}"
      ".SH NOTES\n{}",
      version(), roff(about.substr(about.starts_with("tutti ") ? 6 : 0)), roff(usage_of(program, format)),
      options_of(program, format), commands_of(program, format), verbatim(trimmed(program.get_footer())));
}

}  // namespace

void add_manual(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("manual", "print the manual page (for man)");
  command->footer(
      "Examples:\n"
      "  tutti manual > tutti.1 && man ./tutti.1\n"
      "  tutti manual > ~/.local/share/man/man1/tutti.1");
  command->callback([&program, &action] {
    action = [&program](const Comm& comm) {
      if (comm.is_root()) std::fputs(manual_page(program).c_str(), stdout);
    };
  });
}

}  // namespace tutti::app
