// How --help looks, and what is said about a command line that is wrong.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace tutti {

/// Help with "Usage: tutti run CASE -o DIR [OPTIONS]", choices as a|b|c, defaults and "required" in words.
std::shared_ptr<CLI::FormatterBase> make_help_format();

/// Words that an option takes: of IsMember, or of a type name like "a|b|c"; empty: anything.
std::vector<std::string> choices_of(const CLI::Option& option);
/// "DIR", "N", "a|b|c": what stands for the option's value.
std::string value_name(const CLI::Option& option);
/// "tutti mesh info".
std::string full_name(const CLI::App& command);
/// Subcommands that are shown, in order.
std::vector<const CLI::App*> subcommands_of(const CLI::App& command);

/// One line about arguments that CLI11 refused with `message`: an unknown subcommand or option gets the nearest known
/// name. Ends with which help to see.
std::string explain_command_line(const CLI::App& program, const std::vector<std::string>& arguments,
                                 const std::string& message);

}  // namespace tutti
