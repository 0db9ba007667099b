#include "tutti/models/incompressible/pressure/pressure.hpp"

namespace tutti::incompressible {

template <class T>
PressureEnds<T>::PressureEnds(const PressureProblem<T>& problem)
    : problem_(problem),
      pass_("pressure", problem.threads, problem.domain.streams,
            box_pass_parts(problem.domain.parts,
                           [&](std::size_t p, int d) { return d == 0 ? problem.ends[p].cells() : 0; }),
            static_cast<BoxTransfer<T>*>(nullptr), problem.overlap) {}

template <class T>
void PressureEnds<T>::fill() {
  pass_.run([](std::size_t, Kernels&) {},
            [this](std::size_t p, int, Kernels& to) { fill_pressure(to, problem_.parts[p], problem_.ends[p]); });
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

}  // namespace tutti::incompressible
