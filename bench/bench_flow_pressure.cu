// The direct solver of the pressure in a box on one GPU, its three parts and all of a solution, beside the STREAM triad
// of the same run; and, where there is a cuFFT, a solution by its Fourier transforms in two directions and an
// elimination in the third, which is what others do.
//
// bench_flow_pressure [SECONDS] [CELLS a side ...], default 0.1 128 256 512.
#include <cufft.h>
#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "bench/flow_fields.cuh"
#include "tutti/device/cuda/check.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_gpu.hpp"

namespace tutti::incompressible {
namespace {

/// cuFFT is on few machines without a CUDA toolkit: it is looked for when this runs.
struct CuFft {
  decltype(&cufftPlanMany) plan = nullptr;
  decltype(&cufftSetStream) set_stream = nullptr;
  decltype(&cufftExecR2C) forward_float = nullptr;
  decltype(&cufftExecC2R) back_float = nullptr;
  decltype(&cufftExecD2Z) forward_double = nullptr;
  decltype(&cufftExecZ2D) back_double = nullptr;
  decltype(&cufftDestroy) destroy = nullptr;

  CuFft() {
    void* library = nullptr;
    for (const char* name : {"libcufft.so", "libcufft.so.12", "libcufft.so.11"})
      if (library == nullptr) library = dlopen(name, RTLD_NOW);
    if (library == nullptr) return;
    get(library, "cufftPlanMany", plan);
    get(library, "cufftSetStream", set_stream);
    get(library, "cufftExecR2C", forward_float);
    get(library, "cufftExecC2R", back_float);
    get(library, "cufftExecD2Z", forward_double);
    get(library, "cufftExecZ2D", back_double);
    get(library, "cufftDestroy", destroy);
  }
  bool there() const { return plan != nullptr; }

 private:
  template <class F>
  static void get(void* library, const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(library, name));
  }
};

template <class T>
struct Peer;
template <>
struct Peer<float> {
  using Complex = cufftComplex;
  static constexpr cufftType forward = CUFFT_R2C, back = CUFFT_C2R;
};
template <>
struct Peer<double> {
  using Complex = cufftDoubleComplex;
  static constexpr cufftType forward = CUFFT_D2Z, back = CUFFT_Z2D;
};

/// Thomas's elimination of a column of modes, a thread each, with constant coefficients.
template <class T, class Complex>
__global__ void eliminate_modes(Complex* values, T* factors, const T* lambda, Lid modes, Lid planes) {
  const Lid m = static_cast<Lid>(blockIdx.x * blockDim.x + threadIdx.x);
  if (m >= modes) return;
  const T diagonal = lambda[m] - 2;
  T factor = 1 / (diagonal + 1);
  Complex before = values[m];
  before.x *= factor;
  before.y *= factor;
  values[m] = before;
  factors[m] = factor;
  for (Lid k = 1; k < planes; ++k) {
    const Size at = Size{k} * modes + m;
    factor = 1 / (diagonal - factor);
    const Complex here = values[at];
    before.x = (here.x - before.x) * factor;
    before.y = (here.y - before.y) * factor;
    values[at] = before;
    factors[at] = factor;
  }
  for (Lid k = planes - 2; k >= 0; --k) {
    const Size at = Size{k} * modes + m;
    const Complex here = values[at];
    before.x = here.x - factors[at] * before.x;
    before.y = here.y - factors[at] * before.y;
    values[at] = before;
  }
}

template <class T>
void measure_peer(const CuFft& fft, Stream& stream, const FigureLine& line, Lid side, double seconds) {
  const Lid modes = side * (side / 2 + 1);
  Buffer<T> field = scattered_field<T>(stream, Size{side} * side * side, 1);
  Buffer<T> values(stream.device(), 2 * Size{modes} * side, "modes"), factors(stream.device(), Size{modes} * side, "");
  const std::vector<T> shifts(static_cast<std::size_t>(modes), T(-0.37));
  const Buffer<T> lambda = make_buffer(stream, std::span<const T>(shifts), "shifts");
  using Complex = typename Peer<T>::Complex;
  auto* const complex = reinterpret_cast<Complex*>(values.data());
  cufftHandle forward = 0, back = 0;
  int sides[2] = {side, side};
  if (fft.plan(&forward, 2, sides, nullptr, 1, 0, nullptr, 1, 0, Peer<T>::forward, side) != CUFFT_SUCCESS ||
      fft.plan(&back, 2, sides, nullptr, 1, 0, nullptr, 1, 0, Peer<T>::back, side) != CUFFT_SUCCESS)
    return;
  const auto native = static_cast<cudaStream_t>(stream.native());
  fft.set_stream(forward, native);
  fft.set_stream(back, native);
  const double time = time_of(
      stream, seconds,
      [&] {
        if constexpr (sizeof(T) == sizeof(float))
          fft.forward_float(forward, field.data(), complex);
        else
          fft.forward_double(forward, field.data(), complex);
        eliminate_modes<<<(modes + 127) / 128, 128, 0, native>>>(complex, factors.data(), lambda.data(), modes, side);
        if constexpr (sizeof(T) == sizeof(float))
          fft.back_float(back, complex, field.data());
        else
          fft.back_double(back, complex, field.data());
      },
      10);
  TUTTI_CUDA_CHECK(cudaGetLastError());
  line("cuFFT in two directions and an elimination", time, 10, sizeof(T), 0);
  fft.destroy(forward);
  fft.destroy(back);
}

template <class T>
void measure(const CuFft& fft, Stream& stream, const FigureLine& line, Lid side, double seconds) {
  const Line walls = uniform_line(side, 1, LineEnd::neumann, LineEnd::neumann);
  const LineModes modes = line_modes(walls);
  std::vector<T> lambda;
  for (const double b : modes.eigenvalues)
    for (const double a : modes.eigenvalues) lambda.push_back(static_cast<T>(a + b));
  const Size row = side + 2, plane = row * row, cells = Size{side} * side * side;
  Buffer<T> field = scattered_field<T>(stream, plane * row, 1), values(stream.device(), cells, "modes");
  DirectGpu<T> direct(stream, modes, modes, line_operator(walls), lambda, side);
  const PlanesOfRows<T> rows{field.data() + plane + row + 1, row, plane};
  const Range planes{0, side}, columns{0, side * side};
  const auto forward = [&] { direct.to_modes(stream, {rows.first, row, plane}, values.data(), planes); };
  const auto eliminate = [&] { direct.eliminate(stream, {values.data(), Size{side} * side}, columns); };
  const auto back = [&] { direct.from_modes(stream, values.data(), rows, planes); };
  const auto report = [&](const char* name, int count, const auto& work) {
    line(name, time_of(stream, seconds, work, side > 128 ? 10 : 50), count, sizeof(T), 0);
  };
  report("to modes, along x and y (4 values)", 4, forward);
  report("elimination (2)", 2, eliminate);
  report("from modes (4)", 4, back);
  report("a solution (10)", 10, [&] {
    forward();
    eliminate();
    back();
  });
  // As on two GPUs: the first half of the line up and down, the second at once.
  const Lid half = side / 2;
  const std::vector<T> lost = lost_behind(Tridiagonal<T>(line_operator(walls)).view(), half, lambda);
  DirectGpu<T> first(stream, modes, modes, line_operator(walls), lambda, half, {0, half});
  DirectGpu<T> second(stream, modes, modes, line_operator(walls), lambda, half, {half, side}, lost);
  const ColumnRows<T> halves{values.data() + Size{side} * side, Size{side} * side};  // rows before and behind
  report("up through the first half (1)", 1, [&] { first.eliminate_up(stream, halves, columns); });
  report("down through it (1)", 1, [&] { first.substitute_down(stream, halves, columns); });
  report("elimination in the second half (1)", 1, [&] { second.eliminate(stream, halves, columns); });
  if (fft.there()) measure_peer<T>(fft, stream, line, side, seconds);
}

void run(double seconds, const std::vector<Lid>& sides) {
  const auto device = make_cuda_device(0);
  const auto stream = device->make_stream("bench");
  const double triad = measure_bandwidth(*device).triad;
  const CuFft fft;
  fmt::print("{}\ntriad {:.0f} GB/s{}\n", device->description(), triad * 1e-9, fft.there() ? "" : "; no cuFFT here");
  for (const Lid side : sides) {
    measure<float>(fft, *stream, {"float", side, triad}, side, seconds);
    measure<double>(fft, *stream, {"double", side, triad}, side, seconds);
  }
}

}  // namespace
}  // namespace tutti::incompressible

int main(int argc, char** argv) try {
  std::vector<tutti::Lid> sides;
  for (int i = 2; i < argc; ++i) sides.push_back(std::atoi(argv[i]));
  if (sides.empty()) sides = {128, 256, 512};
  tutti::incompressible::run(argc > 1 ? std::atof(argv[1]) : 0.1, sides);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_flow_pressure: {}\n", error.what());
  return 1;
}
