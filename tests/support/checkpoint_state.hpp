// A state for checkpoints to keep: random rows on random parts, with values of every kind of bits.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/random_parts.hpp"
#include "tests/support/shared_folder.hpp"
#include "tutti/io/checkpoint/checkpoint.hpp"

namespace tutti::test {

/// Any finite number: denormal, -0, huge. What value the row has in round `round`.
inline double any_number(int round, std::size_t field, int component, Gid row) {
  auto bits = random_bits(static_cast<std::uint64_t>(round) * 64 + field * 8 + static_cast<std::uint64_t>(component),
                          static_cast<std::uint64_t>(row));
  if (bits % 16 == 0) return -0.0;
  if ((bits >> 52 & 0x7ff) == 0x7ff) bits &= ~(std::uint64_t{1} << 52);
  return std::bit_cast<double>(bits);
}

/// One rank's share of `rows` rows on `parts` parts, of which some may be empty and some ranks may have none. Every
/// rank makes the same layout from the seed; the order inside a part is shuffled, too.
struct CheckpointState {
  struct Shape {
    std::string name;
    int components;
  };
  CheckpointState(const Comm& comm, std::uint64_t seed, Gid rows_of_all, int parts) : rows(rows_of_all) {
    Dice dice(seed);
    for (int p = 0; p < parts; ++p) rank_of_part.push_back(static_cast<int>(dice.roll(0, comm.size() - 1)));
    std::sort(rank_of_part.begin(), rank_of_part.end());
    owner = detail::random_owner(dice, rows, static_cast<std::int32_t>(parts));
    for (std::int32_t p = 0; p < parts; ++p) {
      std::vector<Gid> mine;
      for (Gid g = 0; g < rows; ++g)
        if (owner[g] == p) mine.push_back(g);
      dice.shuffle(mine);
      if (rank_of_part[p] != comm.rank()) continue;
      IndexMap& map = maps.emplace_back();
      map.part = p;
      map.interior = map.owned = static_cast<Lid>(mine.size());
      map.global = std::move(mine);
      if (map.owned > 0) map.global.push_back(0);  // a ghost: not part of the state
    }
    for (const Shape& shape : shapes) {
      auto& field = values.emplace_back();
      for (const IndexMap& map : maps)
        field.emplace_back(static_cast<std::size_t>(map.owned) * static_cast<std::size_t>(shape.components));
    }
  }

  /// What the checkpoint's writer and reader see; this must outlive it.
  ModelState state() {
    ModelState s;
    for (std::size_t f = 0; f < shapes.size(); ++f)
      s.fields.push_back({shapes[f].name, shapes[f].components,
                          [this, f](std::size_t part, std::span<double> to) {
                            if (before_save) before_save();
                            std::copy(values[f][part].begin(), values[f][part].end(), to.begin());
                          },
                          [this, f](std::size_t part, std::span<const double> from) {
                            values[f][part].assign(from.begin(), from.end());
                          }});
    s.maps = maps;
    s.rank_of_part = rank_of_part;
    s.rows = rows;
    return s;
  }
  /// Calls with (value, field, component, global row) for every number of this rank.
  void each(const std::function<void(double&, std::size_t, int, Gid)>& call) {
    for (std::size_t f = 0; f < shapes.size(); ++f)
      for (std::size_t p = 0; p < maps.size(); ++p)
        for (std::size_t i = 0; i < values[f][p].size(); ++i) {
          const auto k = static_cast<std::size_t>(shapes[f].components);
          call(values[f][p][i], f, static_cast<int>(i % k), maps[p].global[i / k]);
        }
  }
  void fill(int round) {
    each([&](double& v, std::size_t f, int c, Gid row) { v = any_number(round, f, c, row); });
  }
  /// How many numbers are not those of the round, bit for bit.
  int wrong(int round) {
    int count = 0;
    each([&](double& v, std::size_t f, int c, Gid row) {
      count += std::bit_cast<std::uint64_t>(v) != std::bit_cast<std::uint64_t>(any_number(round, f, c, row)) ? 1 : 0;
    });
    return count;
  }

  Gid rows;
  std::vector<Shape> shapes = {{"u", 1}, {"stress", 6}, {"a field", 2}};
  std::vector<int> rank_of_part;
  std::vector<std::int32_t> owner;
  std::vector<IndexMap> maps;
  std::vector<std::vector<std::vector<double>>> values;  ///< [field][my part]
  std::function<void()> before_save;
};

/// The names in a folder, in order.
inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// The message of the Error that `work` must throw, of this kind.
inline std::string message_of(ErrorKind kind, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

}  // namespace tutti::test
