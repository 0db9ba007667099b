// VTU files with one defect each: as text by hand, and in the samples that VTK wrote.
#include <zlib.h>

#include <cstring>

#include "mesh_helpers.hpp"
#include "tutti/base/log.hpp"
#include "tutti/mesh/files/vtu_read.hpp"
#include "vtu_helpers.hpp"

namespace tutti {
namespace {

using test::error_of;
using test::expect_same;
using test::read_file;
using test::vtu_sample;
using test::vtu_text;

class VtuDefects : public ::testing::Test {
 protected:
  void SetUp() override { set_log(LogLevel::quiet, false); }
  void TearDown() override { set_log(LogLevel::normal, true); }

  /// `place` is "12" (a line) or " byte 77".
  static void expect_error(const std::string& bytes, const std::string& place, const std::string& words) {
    const std::string message = error_of(ErrorKind::input, [&] { parse_vtu(bytes, "m.vtu"); });
    EXPECT_EQ(message.find("m.vtu:" + place + ": "), 0u) << message << "\nexpected at " << place;
    EXPECT_NE(message.find(words), std::string::npos) << message << "\nexpected words: " << words;
  }
  static void bad(const std::string& from, const std::string& to, int line, const std::string& words) {
    expect_error(vtu_text({{from, to}}), std::to_string(line), words);
  }
};

TEST_F(VtuDefects, NoVtkFile) {
  expect_error("", "1", "not a VTK file, or truncated or damaged here (XML: ");
  expect_error("solid cube\n", "1", "not a VTK file");
  expect_error("<a/>", "1", "the file begins with 'a'; a VTK file (VTKFile) is expected");
  expect_error(std::string(1000, '\0'), "1", "not a VTK file");
  bad("UnstructuredGrid", "PolyData", 1, "the file holds 'PolyData'; UnstructuredGrid is expected");
  bad(" type=\"UnstructuredGrid\"", "", 1, "the file holds ''");
  bad("LittleEndian", "Middle", 1, "the byte order is 'Middle'; LittleEndian or BigEndian is expected");
  bad("byte_order", "header_type=\"UInt16\" byte_order", 1,
      "the header type is 'UInt16'; UInt32 or UInt64 is expected");
  bad("byte_order", "compressor=\"vtkLZ4DataCompressor\" byte_order", 1,
      "the compressor is 'vtkLZ4DataCompressor'; save");
  const std::string text = vtu_text();
  expect_error(text.substr(0, text.find("<Cells>")), "10", "truncated or damaged here");
  expect_error(text.substr(0, text.find("7 11")), "16", "truncated or damaged here");
  bad("</Points>", "</Pints>", 10, "damaged here (XML: ");
}

TEST_F(VtuDefects, ElementsInEachOther) {
  // Deep enough to overflow the stack of a reader that calls itself for each.
  std::string open, close;
  for (int i = 0; i < 200000; ++i) open += "<a>", close += "</a>";
  expect_error(open, "1", "truncated or damaged here");
  expect_error(open + close, "1", "the file begins with 'a'");
  const std::string text = vtu_text();
  const std::size_t at = text.find("<Cells>");
  EXPECT_EQ(parse_vtu(text.substr(0, at) + open + close + text.substr(at), "m.vtu").cells.size(),
            parse_vtu(text, "m.vtu").cells.size());
}

TEST_F(VtuDefects, Structure) {
  bad("<Piece NumberOfPoints=\"5\" NumberOfCells=\"3\">", "<Piece NumberOfPoints=\"5\" NumberOfCells=\"0\">", 2,
      "there are no tetrahedra");
  bad("NumberOfPoints=\"5\"", "NumberOfPoints=\"five\"", 3, "NumberOfPoints is 'five'; a whole number is expected");
  bad("NumberOfPoints=\"5\"", "", 3, "NumberOfPoints is ''");
  bad("NumberOfPoints=\"5\"", "NumberOfPoints=\"-5\"", 3, "NumberOfPoints is '-5'");
  bad("NumberOfPoints=\"5\"", "NumberOfPoints=\"99999999999999999999\"", 3, "a whole number is expected");
  bad("NumberOfPoints=\"5\"", "NumberOfPoints=\"999999999999\"", 3, "but the file has only");
  bad("NumberOfCells=\"3\"", "NumberOfCells=\"9000000000000000000\"", 3, "but the file has only");
  bad("Name=\"types\"", "Name=\"kinds\"", 11, "the element Cells has no DataArray 'types'; the file is incomplete");
  const std::string text = vtu_text();
  const auto points = text.find("<Points>"), cells = text.find("<Cells>"), data = text.find("<CellData>");
  expect_error(text.substr(0, points) + text.substr(cells), "3", "the element Piece has no element Points");
  expect_error(text.substr(0, cells) + text.substr(data), "3", "the element Piece has no element Cells");
}

TEST_F(VtuDefects, Points) {
  bad("1 0 0\n", "1 nan 0\n", 5, "'DataArray': point 1 has the coordinates 1 nan 0; finite numbers are expected");
  bad("1 0 0\n", "1 x 0\n", 6, "'DataArray': found 'x', but a number was expected");
  bad("1 1 1\n<", "1 1\n<", 9, "the numbers end here, but a number was expected");
  bad("1 1 1\n<", "1 1 1 2\n<", 8, "found '2' after the 15 numbers that are expected");
  bad("NumberOfPoints=\"5\"", "NumberOfPoints=\"6\"", 6, "18 numbers are expected, but only 30 bytes of text follow");
  bad("NumberOfPoints=\"5\"", "NumberOfPoints=\"60\"", 6, "180 numbers are expected, but only 30 bytes of text follow");
  bad("NumberOfComponents=\"3\"", "NumberOfComponents=\"2\"", 5, "points of 2 components; 3 are expected");
  bad("NumberOfComponents=\"3\"", "NumberOfComponents=\"x\"", 5, "NumberOfComponents is 'x'");
  bad("Float64", "Float16", 5, "'Float16' is not a numeric type; Int8, UInt8,");
  bad("format=\"ascii\"", "format=\"hex\"", 5, "the format is 'hex'; ascii, binary or appended is expected");
  bad("0 0 0 1 0 0\n0 1 0 0 0 1\n1 1 1\n", "", 5, "there are no numbers; 15 are expected");
  bad("0 1 0 0 0 1\n", "0 1 0 <a/> 0 0 1\n", 5, "the text is in several pieces");
  bad("0 0 1\n1 1 1", ".5 .5 0\n1 1 1", 12,
      "the tetrahedron 0 (points 0 1 2 3) has no volume, its points lie in a plane");
}

TEST_F(VtuDefects, Cells) {
  bad("0 1 2 3 0", "0 1 2 5 0", 12, "'connectivity': cell 0 names point 5; there are 5 points, numbered from 0");
  bad("0 1 2 3 0", "0 1 2 -1 0", 12, "cell 0 names point -1");
  bad("0 1 2 3 0", "0 1 2 2 0", 12, "the tetrahedron 0 (points 0 1 2 2) has a point twice");
  bad("0 1 2 1 4", "0 1 1 1 4", 12, "the triangle 1 has a point twice: 0 1 1");
  bad("0 1 2 3 0", "0 1 2 3.5 0", 13, "found '3.5', but a whole number was expected");
  bad("Int64", "Float32", 12, "the numbers are Float32; an integer type is expected");
  bad("4 7 11", "4 3 11", 15, "'offsets': cell 1 ends at 3, before 4; offsets must ascend from 0");
  bad("4 7 11", "-4 7 11", 15, "cell 0 ends at -4, before 0");
  bad("4 7 11", "4 8 11", 12, "cell 1 has 4 points, but 3 are expected for its type 5");
  bad("4 7 11", "4 7 12", 14, "the numbers end here");
  bad("4 7 11", "4 7 10", 13, "found '3' after the 10 numbers");
  bad("4 7 11", "4 7 999999999999999999", 12, "999999999999999999 numbers are expected, but the file has only");
  bad("10 5 10", "10 5 12", 18, "'types': cell 2 is a hexahedron (VTK type 12); tutti needs tetrahedra of first order");
  bad("10 5 10", "10 5 24", 18, "cell 2 is a tetrahedron of higher order (VTK type 24)");
  bad("10 5 10", "10 9 10", 18, "cell 1 is a quadrangle (VTK type 9)");
  bad("10 5 10", "10 5 99", 18, "cell 2 is no tetrahedron (VTK type 99)");
  expect_error(vtu_text({{"10 5 10", "3 5 1"}}), "2", "there are no tetrahedra (VTK type 10)");
}

TEST_F(VtuDefects, CellData) {
  bad("7 9 0", "7 -9 0", 23, "'region': cell 1 has the tag -9; 0 to 2147483645 is expected");
  bad("7 9 0", "7 9 2147483646", 23, "cell 2 has the tag 2147483646");
  bad("7 9 0", "7 9", 25, "the numbers end here, but a whole number was expected");
  bad("0.5 1 -2", "0.5 1 inf", 26, "'u & v': cell 2 has the value inf; finite numbers are expected");
  const std::string twice = "<DataArray type=\"Float32\" Name=\"a\" format=\"ascii\">1 2 3</DataArray>\n";
  bad("</CellData>", twice + twice + "</CellData>", 30, "'a': this cell data is listed twice");
  const std::string tags = "<DataArray type=\"Int8\" Name=\"region\" format=\"ascii\">1 2 3</DataArray>\n";
  bad("</CellData>", tags + "</CellData>", 29, "'region': this cell data is listed twice");
  bad("</CellData>", "<DataArray type=\"UInt8\" Name=\"vtkGhostType\" format=\"ascii\">0 0 1</DataArray></CellData>",
      29, "cell 2 is a ghost of another piece");
  const std::string text = vtu_text();
  const std::size_t begin = text.find("<Piece"), end = text.find("</Piece>") + 9;
  const std::string piece = text.substr(begin, end - begin);
  std::string other = piece;
  other.replace(other.find("u &amp; v"), 9, "other");
  expect_error(text.substr(0, end) + other + text.substr(end), "54", "'other': the first piece has no such cell data");
  other.erase(other.find("<DataArray type=\"Float32\""),
              other.find("</CellData>") - other.find("<DataArray type=\"Float32\""));
  expect_error(text.substr(0, end) + other + text.substr(end), "31", "the piece has no cell data 'u & v'");
}

/// A file whose points are in the appended data; everything else is text.
std::string appended(const std::string& encoding, const std::string& attributes, const std::string& data,
                     const std::string& offset = "0") {
  return vtu_text(
      {{"format=\"ascii\">\n0 0 0 1 0 0\n0 1 0 0 0 1\n1 1 1\n", "format=\"appended\" offset=\"" + offset + "\">"},
       {"byte_order", attributes + " byte_order"},
       {"</VTKFile>", "<AppendedData encoding=\"" + encoding + "\">\n_" + data + "</AppendedData>\n</VTKFile>"}});
}

template <class T>
std::string raw_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

const std::vector<double> coordinates = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  EXPECT_EQ(
      compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()),
      Z_OK);
  out.resize(size);
  return out;
}

/// The place of the byte behind the underscore, plus `offset`.
std::string byte_place(const std::string& file, std::size_t offset) {
  return " byte " + std::to_string(file.find("\">\n_") + 4 + offset);
}

TEST_F(VtuDefects, AppendedRaw) {
  const TetMesh expected = parse_vtu(vtu_text(), "m.vtu");
  const std::string points = raw_bytes(coordinates);
  const std::string good = appended("raw", "", raw_bytes<std::uint32_t>({120}) + points);
  expect_same(parse_vtu(good, "m.vtu"), expected);
  expect_same(parse_vtu(appended("raw", "header_type=\"UInt64\"", "xx" + raw_bytes<std::uint64_t>({120}) + points, "2"),
                        "m.vtu"),
              expected);
  std::string file = appended("raw", "", raw_bytes<std::uint32_t>({119}) + points);
  expect_error(file, byte_place(file, 0), "'DataArray': the array holds 119 bytes, but 120 are expected from its type");
  file = good.substr(0, good.find("\">\n_") + 4 + 100);
  expect_error(file, byte_place(file, 0), "124 bytes are announced, but at most 100 follow; the file is truncated");
  file = appended("raw", "", raw_bytes<std::uint32_t>({120}) + points, "99999");
  expect_error(file, "5", "the offset is 99999, but only");
  expect_error(appended("raw", "", "", "x"), "5", "the offset is 'x'; a whole number is expected");
  expect_error(appended("hex", "", "", "0"), "28", "the encoding is 'hex'; raw or base64 is expected");
  file = good;
  file.replace(file.find("\n_") + 1, 1, "=");
  expect_error(file, "29", "but an underscore must come before the appended data");
  expect_error(good.substr(0, good.find("\n_") + 1), "29", "found the end of the file, but an underscore");
  expect_error(good.substr(0, good.find("encoding")), "28",
               "the element AppendedData does not end; the file is truncated");
  expect_error(vtu_text({{"format=\"ascii\">\n0 0 0 1", "format=\"appended\" offset=\"0\">0 0 0 1"}}), "5",
               "the array is appended, but there is no element AppendedData");
}

TEST_F(VtuDefects, AppendedZlib) {
  const std::string zlib = "compressor=\"vtkZLibDataCompressor\"";
  const std::string points = raw_bytes(coordinates), first = deflated(points.substr(0, 80)),
                    last = deflated(points.substr(80));
  const auto with = [&](const std::vector<std::uint32_t>& header, const std::string& data) {
    return appended("raw", zlib, raw_bytes(header) + data);
  };
  const auto a = static_cast<std::uint32_t>(first.size()), b = static_cast<std::uint32_t>(last.size());
  expect_same(parse_vtu(with({2, 80, 40, a, b}, first + last), "m.vtu"), parse_vtu(vtu_text(), "m.vtu"));
  const auto whole = deflated(points);
  const auto w = static_cast<std::uint32_t>(whole.size());
  expect_same(parse_vtu(with({1, 120, 0, w}, whole), "m.vtu"), parse_vtu(vtu_text(), "m.vtu"));

  std::string file = with({2, 80, 41, a, b}, first + last);
  expect_error(file, byte_place(file, 0), "the array holds 121 bytes, but 120 are expected");
  file = with({2, 79, 41, a, b}, first + last);
  expect_error(file, byte_place(file, 20), "block 0 does not unpack to its 79 bytes (zlib status -5)");
  file = with({2, 80, 40, a, b}, first + std::string(b, 'x'));
  expect_error(file, byte_place(file, 20 + a), "block 1 does not unpack to its 40 bytes (zlib status -3)");
  file = with({4000000000, 80, 40, a, b}, first + last);
  expect_error(file, byte_place(file, 0), "4000000000 compressed blocks are announced, but only");
  file = with({2, 80, 40, a, 9999}, first + last);
  expect_error(file, byte_place(file, 0), "block 1 has 9999 compressed bytes, but only");
  // A bomb: few bytes that claim to be many.
  file = with({1, 4000000000, 0, w}, whole);
  expect_error(file, byte_place(file, 0), "block 0 claims 4000000000 bytes out of");
  expect_error(vtu_text({{"NumberOfPoints=\"5\"", "NumberOfPoints=\"99999999\""}}), "3", "but the file has only");
  // Many arrays that point to the same bytes: each fits, together they cannot.
  std::string arrays;
  for (int i = 0; i < 2000; ++i)
    arrays += "<DataArray type=\"Float64\" Name=\"" + std::to_string(i) + "\" format=\"appended\" offset=\"0\"/>\n";
  const std::size_t cells = 400'000;
  const std::string zeros = deflated(std::string(8 * cells, '\0')), types = deflated(std::string(8 * cells, '\1'));
  const auto head = [&](const std::string& packed) {
    return raw_bytes<std::uint32_t>(
        {1, static_cast<std::uint32_t>(8 * cells), 0, static_cast<std::uint32_t>(packed.size())});
  };
  const std::string n = std::to_string(cells), there = std::to_string(16 + zeros.size());
  file = "<VTKFile type=\"UnstructuredGrid\" " + zlib +
         ">\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"1\" NumberOfCells=\"" + n +
         "\">\n<Points>\n<DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">0 0 "
         "0</DataArray></Points>\n" +
         "<Cells><DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\"/>" +
         "<DataArray type=\"Int64\" Name=\"offsets\" format=\"appended\" offset=\"0\"/>" +
         "<DataArray type=\"Int64\" Name=\"types\" format=\"appended\" offset=\"0\"/></Cells>\n<CellData>\n" + arrays +
         "</CellData>\n</Piece></UnstructuredGrid><AppendedData encoding=\"raw\">\n_" + head(zeros) + zeros +
         "</AppendedData></VTKFile>";
  const std::string message = error_of(ErrorKind::input, [&] { parse_vtu(file, "m.vtu"); });
  EXPECT_NE(message.find("with this array, the arrays hold"), std::string::npos) << message;
}

TEST_F(VtuDefects, Base64) {
  // 0 0 0 1 0 0 ... as Float64 behind a UInt32 of 120.
  const std::string text = read_file(vtu_sample("inline"));
  const auto array = [&](const char* name) {
    return text.find('\n', text.find("Name=\"" + std::string(name) + "\"")) + 11;
  };
  const auto line = [&](std::size_t at) {
    return std::to_string(1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  };
  const std::size_t at = array("connectivity");
  const auto changed = [&](std::size_t where, char c) {
    std::string result = text;
    result[where] = c;
    return result;
  };
  expect_error(changed(at + 30, '*'), line(at),
               "'connectivity': found '*' in the base64 text; the file is damaged here");
  expect_error(changed(at + 30, '='), line(at), "found '=' in the base64 text");
  expect_error(changed(at + 1, 'B'), line(at), "'connectivity': the array holds");
  std::string shorter = text;
  shorter.erase(at + 40, 200);
  expect_error(shorter, line(at), "bytes are announced, but at most");
  // White space between characters counts for nothing.
  std::string wider = text;
  wider.insert(at + 30, "\n  ");
  expect_same(parse_vtu(wider, "m.vtu"), parse_vtu(text, "m.vtu"));
}

}  // namespace
}  // namespace tutti
