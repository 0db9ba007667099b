// Formulas of case files: compiled, copied, evaluated.
#include <bit>
#include <vector>

#include "fuzz.hpp"
#include "tutti/io/case/expression.hpp"

using namespace tutti;

namespace {

/// The value's bits, or 0 where it is not finite.
std::uint64_t value_at(const Expression& expression, Vec3 p, double t) {
  std::uint64_t bits = 0;
  fuzz::accepts({ErrorKind::input}, [&] { bits = std::bit_cast<std::uint64_t>(expression(p, t)); });
  return bits;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::accepts({ErrorKind::input}, [&] {
    const Expression expression(text, "case.toml:1:1");
    const Expression copy = expression;
    for (const double t : {0.0, 0.25, 1e6}) {
      for (const Vec3 p : {Vec3{0, 0, 0}, Vec3{1, 2, 3}, Vec3{-1e3, 0.5, 1e-9}}) {
        const std::uint64_t first = value_at(expression, p, t);
        fuzz::check(first == value_at(expression, p, t), "the same point has two values");
        fuzz::check(first == value_at(copy, p, t), "a copy has another value");
        if (!expression.depends_on_time()) fuzz::check(first == value_at(expression, p, t + 1), "it depends on time");
      }
    }
    std::vector<double> values(2);
    const std::vector<Vec3> points = {{1, 2, 3}, {3, 2, 1}};
    fuzz::accepts({ErrorKind::input}, [&] { expression.evaluate(points, 0.5, values); });
  });
  return 0;
}
