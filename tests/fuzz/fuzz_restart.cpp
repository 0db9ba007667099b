// A whole checkpoint whose checksums are right, as somebody makes it who means harm: its arrays and what it says of its
// run.
//
// The input is what lies between the header and the table of checksums. A file in memory is made of it.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "fuzz.hpp"
#include "tutti/io/checkpoint/checkpoint_file.hpp"
#include "tutti/io/checkpoint/checkpoint_header.hpp"
#include "tutti/simulation/run/run_state.hpp"

using namespace tutti;

namespace {

/// A file without a name in any folder.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view body) : file_(::memfd_create("checkpoint", MFD_CLOEXEC)) {
    const std::string header(static_cast<std::size_t>(checkpoint_header_bytes), '\0');
    fuzz::check(file_ >= 0, "no file");
    write(header);
    write(body);
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  void write(std::string_view bytes) const {
    fuzz::check(::write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "a short file");
  }
  int file_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile memory({reinterpret_cast<const char*>(data), size});
  fuzz::accepts({ErrorKind::input}, [&] {
    const CheckpointFile file(memory.path());
    const CheckpointFrame& frame = file.frame();
    fuzz::check(!frame.part_begin.empty() && frame.part_begin[0] == 0 && frame.rows() >= 0, "no parts");
    // All that is said to be there lies in the file.
    fuzz::check(frame.rows() <= static_cast<Size>(size) / 8, "more rows than bytes");
    fuzz::check(static_cast<Size>(file.read_global(0, frame.rows()).size()) == frame.rows(), "rows are missing");
    for (std::size_t f = 0; f < frame.fields.size(); ++f)
      fuzz::check(
          static_cast<Size>(file.read_field(f, 0, frame.rows()).size()) == frame.rows() * frame.fields[f].components,
          "values are missing");
    const RunState state = parse_run_state(frame.meta, "step.h5");
    fuzz::check(state.step >= 0 && std::isfinite(state.time) && std::isfinite(state.plan.dt), "a step that is none");
  });
  return 0;
}
