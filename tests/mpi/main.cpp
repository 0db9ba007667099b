// main of the tests over MPI: every rank runs every test; the first one speaks, the others only when they fail.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <string>

namespace {

/// Says which rank failed where. A rank that leaves a test early would leave the others waiting for its messages: a
/// fatal failure (an exception is one) ends them all.
class RankFailures final : public testing::EmptyTestEventListener {
 public:
  RankFailures(int rank, int size) : rank_(rank), size_(size) {}
  void OnTestStart(const testing::TestInfo& test) override {
    name_ = std::string(test.test_suite_name()) + "." + test.name();
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d of %d, %s, %s:%d: %s\n", rank_, size_, name_.c_str(),
                 result.file_name() != nullptr ? result.file_name() : "?", result.line_number(), result.message());
    std::fflush(stderr);
    if (result.fatally_failed() && size_ > 1) MPI_Abort(MPI_COMM_WORLD, 1);
  }

 private:
  int rank_, size_;
  std::string name_;  ///< GoogleTest must not be asked for it while it reports
};

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, rank = 0, size = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  testing::InitGoogleTest(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new RankFailures(rank, size));
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
