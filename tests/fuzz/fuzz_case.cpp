// Case files with the keys of the core and of diffusion, and what is typed with --set.
//
// The input: the case's text; behind each zero byte one --set.
#include <map>
#include <set>
#include <vector>

#include "fuzz.hpp"
#include "tutti/io/case/core_keys.hpp"
#include "tutti/models/diffusion/diffusion_case.hpp"

using namespace tutti;
using namespace tutti::diffusion;

namespace {

CaseSchema diffusion_schema() {
  CaseSchema schema = core_schema({"diffusion"});
  add_diffusion_keys(schema);
  return schema;
}

std::vector<std::string> split(std::string_view input) {
  std::vector<std::string> pieces;
  for (std::size_t begin = 0; begin <= input.size();) {
    const std::size_t end = std::min(input.find('\0', begin), input.size());
    pieces.emplace_back(input.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

/// Asks a case for everything that the schema says it can have.
void read_every_key(const Case& options) {
  for (const KeyDoc& key : options.schema().keys()) {
    if (key.path.find("[]") != std::string::npos || !options.has(key.path)) continue;
    static_cast<void>(options.where(key.path));
    switch (key.type) {
      case KeyType::integer:
        if (!options.is_word(key.path, "auto")) static_cast<void>(options.integer(key.path));
        break;
      case KeyType::number:
        if (!options.is_word(key.path, "auto")) static_cast<void>(options.number(key.path));
        break;
      case KeyType::bytes:
        if (!options.is_word(key.path, "auto")) static_cast<void>(options.bytes(key.path));
        break;
      case KeyType::file:
        static_cast<void>(options.file(key.path));
        break;
      case KeyType::expression:
        static_cast<void>(options.expression(key.path)({0.5, 1, 2}, 0.1));
        break;
      case KeyType::tensor:
        static_cast<void>(options.tensor(key.path));
        break;
      default:
        break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const CaseSchema schema = diffusion_schema();
  std::vector<std::string> sets = split({reinterpret_cast<const char*>(data), size});
  const std::string text = sets.front();
  sets.erase(sets.begin());
  fuzz::accepts({ErrorKind::input, ErrorKind::usage}, [&] {
    if (case_model(text, "case.toml", sets, {"diffusion"}) != "diffusion") fuzz::finding("an unknown model");
    const Case options = parse_case(text, "case.toml", schema, sets);
    // What a run writes beside its results is a case file that says the same.
    const std::string effective = options.effective_toml();
    std::string again;
    if (!fuzz::accepts({}, [&] { again = parse_case(effective, "case.toml", schema).effective_toml(); }))
      fuzz::finding("the effective case is no case: " + effective);
    fuzz::check(again == effective, "the effective case says something else");
    fuzz::accepts({ErrorKind::input}, [&] { read_every_key(options); });
    fuzz::accepts({ErrorKind::input}, [&] {
      const DiffusionPhysics physics(options, {{1, "left"}, {2, "right"}}, {{1, "x-min"}}, {1, 2}, {1, 3});
      static_cast<void>(physics.has_forcing());
      static_cast<void>(physics.condition(1).value({0, 0, 0}, 0));
    });
  });
  return 0;
}
