#include "tutti/models/incompressible/pressure/pressure.hpp"

namespace tutti {

template <class T>
PressureEnds<T>::PressureEnds(const PressureProblem<T>& problem)
    : problem_(problem),
      pass_("pressure", problem.threads, problem.domain.streams, problem.domain.parts, nullptr, problem.overlap,
            [ends = problem.ends](std::size_t p, int d) { return ends[p].cells(d); }) {}

template <class T>
void PressureEnds<T>::fill(std::uint64_t same_work) {
  pass_.run([](std::size_t, Stream&, const CellBox&, Range) {},
            [this](std::size_t p, int d, Stream& stream, Range range) {
              FlowPart<T>& part = problem_.parts[p];
              fill_pressure(stream, part.grid.array, part.p.data(), problem_.ends[p].view(d), range);
            },
            same_work);
}

template <class T>
std::unique_ptr<PressureSolver<T>> make_pressure_solver(const PressureProblem<T>& problem) {
  switch (problem.flow.pressure) {
    case PressureMethod::direct:
      return make_direct(problem);
    case PressureMethod::multigrid:
      return make_multigrid(problem);
    default:
      return make_relaxation(problem);
  }
}

template class PressureEnds<double>;
template class PressureEnds<float>;
template std::unique_ptr<PressureSolver<double>> make_pressure_solver(const PressureProblem<double>&);
template std::unique_ptr<PressureSolver<float>> make_pressure_solver(const PressureProblem<float>&);

}  // namespace tutti
