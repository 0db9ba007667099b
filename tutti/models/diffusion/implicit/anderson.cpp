#include "tutti/models/diffusion/implicit/anderson.hpp"

#include <algorithm>
#include <cmath>

#include "tutti/base/dense_matrix.hpp"
#include "tutti/base/exact_sum.hpp"
#include "tutti/base/mpi/over_ranks.hpp"

namespace tutti::diffusion {
namespace {

using Values = Anderson::Values;

/// y + factor x
Values sum(Values y, double factor, const Values& x) {
  for (std::size_t p = 0; p < y.size(); ++p)
    for (std::size_t i = 0; i < y[p].size(); ++i) y[p][i] += factor * x[p][i];
  return y;
}

double product(const Comm& comm, const Values& a, const Values& b) {
  ExactSum total;
  for (std::size_t p = 0; p < a.size(); ++p)
    for (std::size_t i = 0; i < a[p].size(); ++i) total.add(a[p][i] * b[p][i]);
  return sum_over_ranks(comm, total);
}

}  // namespace

Anderson::Anderson(const Comm& comm, const std::vector<std::size_t>& lengths) : comm_(comm) {
  Values zero;
  for (const std::size_t length : lengths) zero.emplace_back(length, 0.0);
  last_ = {zero, zero};
  differences_.assign(depth, last_);
}

Values Anderson::next(const Values& iterate, const Values& image) {
  const Values residual = sum(image, -1, iterate);
  if (seen_ > 0) {
    std::rotate(differences_.begin(), differences_.end() - 1, differences_.end());
    differences_[0] = {sum(residual, -1, last_.residual), sum(image, -1, last_.image)};
    used_ = std::min(used_ + 1, static_cast<double>(depth));
  }
  last_ = {residual, image};
  seen_ = 1;
  const auto n = static_cast<Size>(used_);
  if (n == 0) return image;
  // |residual - sum_i weights[i] differences[i]| is least.
  DenseMatrix products(n);
  std::vector<double> right;
  const auto residual_of = [&](Size i) -> const Values& { return differences_[static_cast<std::size_t>(i)].residual; };
  for (Size i = 0; i < n; ++i) {
    right.push_back(product(comm_, residual_of(i), residual));
    for (Size j = 0; j <= i; ++j) products(i, j) = products(j, i) = product(comm_, residual_of(i), residual_of(j));
  }
  const std::vector<double> weights = solve_least_squares(products, right);
  Values result = image;
  for (const double weight : weights)
    if (!std::isfinite(weight)) return result;
  for (std::size_t i = 0; i < weights.size(); ++i) result = sum(std::move(result), -weights[i], differences_[i].image);
  return result;
}

std::vector<ModelField> Anderson::fields() {
  std::vector<ModelField> all;
  const auto add = [&](const std::string& name, Values& values) {
    ModelField field{.name = name, .restart = true};
    field.read = [&values](std::size_t p, const RowSet& rows, std::span<double> to) {
      std::copy(values[p].begin() + rows.rows.begin, values[p].begin() + rows.rows.end, to.begin());
    };
    field.write = [&values](std::size_t p, std::span<const double> from) {
      values[p].assign(from.begin(), from.end());
    };
    all.push_back(std::move(field));
  };
  const auto add_pair = [&](const std::string& name, Pair& pair) {
    add(name + "_residual", pair.residual);
    add(name + "_image", pair.image);
  };
  add_pair("anderson_last", last_);
  for (std::size_t k = 0; k < depth; ++k) add_pair(fmt::format("anderson_{}", k), differences_[k]);
  return all;
}

std::vector<StateNumber> Anderson::numbers() {
  std::vector<StateNumber> all;  // not a list: as TetModel::numbers
  all.push_back({"anderson_seen", &seen_});
  all.push_back({"anderson_used", &used_});
  return all;
}

}  // namespace tutti::diffusion
