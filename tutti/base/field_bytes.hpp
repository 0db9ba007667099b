// The values of all members of an aggregate as bytes, without the padding between them: equal values, equal bytes.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace tutti {
namespace detail {

/// Stands for a member of any type, in an expression that is never evaluated.
struct AnyValue {
  template <class T>
  constexpr operator T() const;  // NOLINT(google-explicit-constructor)
};
template <std::size_t>
using Any = AnyValue;

template <class F, std::size_t... i>
constexpr bool takes_values(std::index_sequence<i...>) {
  return requires {
    F{Any<i>{}...};
  };
}
/// Initialisers of an aggregate, where an array takes one an element.
template <class F, std::size_t n = 0>
constexpr std::size_t initialisers() {
  if constexpr (takes_values<F>(std::make_index_sequence<n + 1>{}))
    return initialisers<F, n + 1>();
  else
    return n;
}
template <class F, std::size_t... before, std::size_t... behind>
constexpr bool takes_one_braced(std::index_sequence<before...>, std::index_sequence<behind...>) {
  return requires {
    F{Any<before>{}..., {AnyValue{}}, Any<behind>{}...};
  };
}
/// Initialisers of the member that begins at number `at` of `all`: in braces it leaves room for those behind it only.
template <class F, std::size_t all, std::size_t at, std::size_t width = 1>
constexpr std::size_t member_width() {
  if constexpr (takes_one_braced<F>(std::make_index_sequence<at>{}, std::make_index_sequence<all - at - width>{}))
    return width;
  else
    return member_width<F, all, at, width + 1>();
}
template <class F, std::size_t all, std::size_t at = 0>
constexpr std::size_t count_members() {
  if constexpr (at == all)
    return 0;
  else
    return 1 + count_members<F, all, at + member_width<F, all, at>()>();
}

}  // namespace detail

template <class F>
requires std::is_aggregate_v<F>
inline constexpr std::size_t member_count = detail::count_members<F, detail::initialisers<F>()>();

/// Appends the bytes of a number, an enumeration, a pointer, or an array or aggregate (of at most 14 members) of such.
template <class F>
void append_field_bytes(std::vector<char>& bytes, const F& f) {
  static_assert(!std::is_class_v<F> || std::is_aggregate_v<F>,
                "others, closures among them, do not tell their members");
  if constexpr (std::is_arithmetic_v<F> || std::has_unique_object_representations_v<F>) {
    const char* const first = reinterpret_cast<const char*>(&f);
    bytes.insert(bytes.end(), first, first + sizeof(f));  // NOLINT(bugprone-sizeof-expression): of a pointer, its own
  } else if constexpr (std::is_array_v<F>) {
    for (const auto& element : f) append_field_bytes(bytes, element);
  } else {
    constexpr std::size_t n = member_count<F>;
    static_assert(n <= 14, "more members than are listed below");
    [[maybe_unused]] const auto append = [&bytes](const auto&... members) {
      (append_field_bytes(bytes, members), ...);
    };
#define TUTTI_MEMBERS(count, ...)  \
  if constexpr (n == (count)) {    \
    const auto& [__VA_ARGS__] = f; \
    append(__VA_ARGS__);           \
  }
    TUTTI_MEMBERS(1, a)
    TUTTI_MEMBERS(2, a, b)
    TUTTI_MEMBERS(3, a, b, c)
    TUTTI_MEMBERS(4, a, b, c, d)
    TUTTI_MEMBERS(5, a, b, c, d, e)
    TUTTI_MEMBERS(6, a, b, c, d, e, g)
    TUTTI_MEMBERS(7, a, b, c, d, e, g, h)
    TUTTI_MEMBERS(8, a, b, c, d, e, g, h, i)
    TUTTI_MEMBERS(9, a, b, c, d, e, g, h, i, j)
    TUTTI_MEMBERS(10, a, b, c, d, e, g, h, i, j, k)
    TUTTI_MEMBERS(11, a, b, c, d, e, g, h, i, j, k, l)
    TUTTI_MEMBERS(12, a, b, c, d, e, g, h, i, j, k, l, m)
    TUTTI_MEMBERS(13, a, b, c, d, e, g, h, i, j, k, l, m, o)
    TUTTI_MEMBERS(14, a, b, c, d, e, g, h, i, j, k, l, m, o, p)
#undef TUTTI_MEMBERS
  }
}

}  // namespace tutti
