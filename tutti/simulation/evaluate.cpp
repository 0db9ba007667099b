#include "tutti/simulation/evaluate.hpp"

#include "tutti/base/error.hpp"

namespace tutti {

std::vector<double> evaluate_at(const Expression& expression, std::span<const Vec3> points, double t, Threads& threads,
                                std::span<const double> u) {
  std::vector<double> values(points.size());
  threads.for_range(static_cast<Size>(points.size()), [&](Size begin, Size end) {
    const auto b = static_cast<std::size_t>(begin), n = static_cast<std::size_t>(end - begin);
    expression.evaluate(points.subspan(b, n), t, std::span(values).subspan(b, n), u.empty() ? u : u.subspan(b, n));
  });
  return values;
}

void require_steady(const Expression& expression, const std::string& where, const std::string& key) {
  if (expression.depends_on_time())
    fail(ErrorKind::input,
         "{}: '{}' depends on t, but it is evaluated once, at t = 0; write it as a formula of x, y and z", where, key);
}

}  // namespace tutti
