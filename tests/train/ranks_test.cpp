// Several processes that share batches, played by threads: the result of one that has them whole.
#include "ingot/train/ranks.h"

#include <gtest/gtest.h>

#include <barrier>
#include <filesystem>
#include <random>
#include <thread>

#include "ingot/ops/builder.h"
#include "ingot/train/trainer.h"
#include "tests/support/files.h"

namespace ingot {
namespace {

/// What threads that play ranks share.
struct Meeting {
  explicit Meeting(int n) : count(n), barrier(n), lists(static_cast<std::size_t>(n)) {}
  int count;
  std::barrier<> barrier;
  std::vector<std::span<double>> lists;
  std::vector<double> sums;
};

class ThreadRank final : public train::Ranks {
 public:
  ThreadRank(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  int rank() const override { return rank_; }
  int count() const override { return meeting_.count; }
  void add(std::span<double> numbers) override {
    meeting_.lists[static_cast<std::size_t>(rank_)] = numbers;
    meeting_.barrier.arrive_and_wait();
    if (rank_ == 0) {
      meeting_.sums.assign(numbers.size(), 0);
      for (const std::span<double>& list : meeting_.lists)
        for (std::size_t i = 0; i < list.size(); ++i) meeting_.sums[i] += list[i];
    }
    meeting_.barrier.arrive_and_wait();
    std::ranges::copy(meeting_.sums, numbers.begin());
    meeting_.barrier.arrive_and_wait();
  }

 private:
  Meeting& meeting_;
  int rank_;
};

Model network(DType type) {
  Model model;
  model.ir_version = 10;
  model.opsets.set("", 21);
  Graph& graph = *model.graph;
  std::mt19937 generator(4);
  const auto weights = [&](const char* name, Dims dims) {
    std::vector<double> values(static_cast<std::size_t>(tensor_size(dims)));
    for (double& v : values) v = std::uniform_real_distribution<double>(-0.7, 0.7)(generator);
    const Tensor tensor = type == DType::f64
                              ? Tensor::of<double>(dims, values)
                              : Tensor::of<float>(dims, std::vector<float>(values.begin(), values.end()));
    return graph.add_initializer(name, tensor);
  };
  Value* x = graph.add_input("x", Type::tensor(type, Shape{Dim::symbol("N"), 4}));
  GraphBuilder g(graph);
  Value* hidden = g.op("Tanh", {g.op("Gemm", {x, weights("w1", {4, 6}), weights("b1", {6})})});
  graph.add_output(g.op("Gemm", {hidden, weights("w2", {6, 2}), weights("b2", {2})}));
  return model;
}

train::Dataset rows(const test::TempDir& directory) {
  std::mt19937 generator(5);
  std::string text = "a,b,c,d,kind\n";
  for (int i = 0; i < 50; ++i) {
    double sum = 0;
    for (int k = 0; k < 4; ++k) {
      const double v = static_cast<double>(generator() % 1000) / 500 - 1;
      sum += k % 2 ? v : -v;
      text += std::to_string(v) + ",";
    }
    text += sum > 0 ? "up\n" : "down\n";
  }
  test::write_text(directory / "rows.csv", text);
  train::DatasetOptions options;
  options.target = "kind";
  return train::load_dataset(directory / "rows.csv", options);
}

train::TrainingOptions how() {
  train::TrainingOptions options;
  options.optimizer.name = "adam";
  options.optimizer.lr = 0.02;
  options.clip_norm = 1;
  return options;
}

train::LoopOptions loop() {
  train::LoopOptions options;
  options.batch = 10;
  options.epochs = 3;
  return options;
}

std::vector<double> state_of(train::Trainer& trainer) {
  std::vector<double> numbers;
  for (const char* name : {"w1", "b1", "w2", "b2"})
    for (const double v : trainer.runner().state(name).to_doubles()) numbers.push_back(v);
  return numbers;
}

/// The weights of each rank when all are done.
std::vector<std::vector<double>> train_together(int count, DType type, const train::Dataset& data,
                                                const train::LoopOptions& options) {
  Meeting meeting(count);
  std::vector<std::vector<double>> states(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      ThreadRank own(meeting, rank);
      train::LoopOptions mine = options;
      mine.ranks = &own;
      train::Trainer trainer = train::Trainer::shared(network(type), how(), {.threads = 1});
      trainer.fit(data, mine);
      states[static_cast<std::size_t>(rank)] = state_of(trainer);
    });
  for (std::thread& thread : threads) thread.join();
  return states;
}

class SharedTraining : public testing::TestWithParam<std::tuple<int, DType>> {};

TEST_P(SharedTraining, EndsWhereOneProcessEnds) {
  const test::TempDir directory;
  const train::Dataset data = rows(directory);
  const auto [count, type] = GetParam();
  train::Trainer alone(network(type), how(), {.threads = 1});
  alone.fit(data, loop());
  const std::vector<double> expected = state_of(alone);
  const auto states = train_together(count, type, data, loop());
  for (const std::vector<double>& state : states) {
    EXPECT_EQ(state, states[0]);
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(state[i], expected[i], type == DType::f64 ? 1e-9 : 2e-4) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, SharedTraining,
                         testing::Combine(testing::Values(1, 2, 3, 4), testing::Values(DType::f32, DType::f64)));

TEST(SharedTraining, GoesOnWithAnotherNumberOfRanksAndAlone) {
  const test::TempDir directory;
  const train::Dataset data = rows(directory);
  train::LoopOptions options = loop();
  options.checkpoints = directory / "checkpoints";
  options.steps = 6;
  train_together(3, DType::f64, data, options);
  options.resumes = true;
  options.steps = 10;
  const auto two = train_together(2, DType::f64, data, options);
  std::filesystem::remove(directory.path() / "checkpoints" / "step-00000010.npz");
  train::Trainer alone(network(DType::f64), how(), {.threads = 1});
  const train::LoopReport report = alone.fit(data, options);
  EXPECT_EQ(report.resumed_at, 6u);
  const std::vector<double> expected = state_of(alone);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(two[0][i], expected[i], 1e-9);
}

TEST(SharedTraining, SharesAreNeighboursAndCoverTheBatch) {
  Meeting meeting(3);
  std::vector<std::int64_t> all;
  for (int rank = 0; rank < 3; ++rank)
    for (const std::int64_t i : train::share_of({5, 6, 7, 8}, ThreadRank(meeting, rank))) all.push_back(i);
  EXPECT_EQ(all, (std::vector<std::int64_t>{5, 6, 7, 8}));
}

}  // namespace
}  // namespace ingot
