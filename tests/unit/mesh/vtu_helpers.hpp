// What the tests of the VTU reader share.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tutti::test {

/// The files that tests/data/vtu/make.py writes: one grid in every encoding.
inline std::vector<std::string> vtu_samples() {
  return {"ascii",       "inline",     "inline_zlib",    "raw", "raw_zlib", "base64",
          "base64_zlib", "big_endian", "big_endian_zlib"};
}
inline std::filesystem::path vtu_sample(const std::string& name) {
  return std::filesystem::path(TUTTI_TEST_DATA) / "vtu" / (name + ".vtu");
}

/// Two tetrahedra and a triangle as text. Each change replaces a text by another one.
inline std::string vtu_text(const std::vector<std::pair<std::string, std::string>>& changes = {}) {
  std::string text =
      "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\">\n"     // 1
      "<UnstructuredGrid>\n<Piece NumberOfPoints=\"5\" NumberOfCells=\"3\">\n"                // 2-3
      "<Points>\n<DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">\n"    // 4-5
      "0 0 0 1 0 0\n0 1 0 0 0 1\n1 1 1\n</DataArray>\n</Points>\n"                            // 6-10
      "<Cells>\n<DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">\n"          // 11-12
      "0 1 2 3 0 1 2 1 4 2 3\n</DataArray>\n"                                                 // 13-14
      "<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">\n4 7 11\n</DataArray>\n"  // 15-17
      "<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">\n10 5 10\n</DataArray>\n"   // 18-20
      "</Cells>\n<CellData>\n"                                                                // 21-22
      "<DataArray type=\"Int32\" Name=\"region\" format=\"ascii\">\n7 9 0\n</DataArray>\n"    // 23-25
      "<DataArray type=\"Float32\" Name=\"u &amp; v\" format=\"ascii\">\n0.5 1 -2\n"          // 26-27
      "</DataArray>\n</CellData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";               // 28-32
  for (const auto& [from, to] : changes) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace tutti::test
