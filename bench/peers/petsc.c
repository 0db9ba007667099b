/* Solves the equations of a file with PETSc: seconds of the set-up and of the solution, iterations, and the residual relative
   to the right-hand side. Options as PETSc has them: -ksp_type, -pc_type, -ksp_rtol. */
#include <petscksp.h>

int main(int argc, char** argv) {
  Mat matrix;
  Vec right, solution, residual;
  KSP solver;
  PetscViewer file;
  PetscInt iterations;
  PetscReal norm, reference;
  PetscLogDouble begin, ready, end;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, argv[1], FILE_MODE_READ, &file));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &matrix));
  PetscCall(MatSetFromOptions(matrix));
  PetscCall(MatLoad(matrix, file));
  PetscCall(MatCreateVecs(matrix, &solution, &right));
  PetscCall(VecLoad(right, file));
  PetscCall(VecDuplicate(right, &residual));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
  PetscCall(KSPSetOperators(solver, matrix, matrix));
  PetscCall(KSPSetFromOptions(solver));
  PetscCall(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&begin));
  PetscCall(KSPSetUp(solver));
  PetscCall(PetscTime(&ready));
  PetscCall(KSPSolve(solver, right, solution));
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetIterationNumber(solver, &iterations));
  PetscCall(MatMult(matrix, solution, residual));
  PetscCall(VecAYPX(residual, -1, right));
  PetscCall(VecNorm(residual, NORM_2, &norm));
  PetscCall(VecNorm(right, NORM_2, &reference));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.3f %.3f %d %.2e\n", ready - begin, end - ready, (int)iterations,
                        (double)(norm / reference)));
  return PetscFinalize();
}
