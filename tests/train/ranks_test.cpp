// Several processes that share batches, played by threads: the result of one that has them whole.
#include "ingot/train/ranks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <filesystem>
#include <random>
#include <thread>

#include "ingot/ops/builder.h"
#include "ingot/train/distributed/exchange.h"
#include "ingot/train/trainer.h"
#include "tests/support/files.h"

namespace ingot {
namespace {

/// What threads that play ranks share.
struct Meeting {
  explicit Meeting(int n) : count(n), barrier(n), sent(static_cast<std::size_t>(n)) {}
  int count;
  std::barrier<> barrier;
  std::vector<std::span<const std::byte>> sent;  // by each in turn
  std::atomic<std::uint64_t> messages = 0;
};

class ThreadRank final : public train::Ranks {
 public:
  ThreadRank(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  int rank() const override { return rank_; }
  int count() const override { return meeting_.count; }

  void exchange(std::span<const std::byte> from, std::span<std::byte> to) override {
    const std::size_t each = from.size() / meeting_.sent.size(), own = static_cast<std::size_t>(rank_);
    ++meeting_.messages;
    meet(from, [&] {
      for (std::size_t r = 0; r < meeting_.sent.size(); ++r)
        std::ranges::copy(meeting_.sent[r].subspan(own * each, each),
                          to.begin() + static_cast<std::ptrdiff_t>(r * each));
    });
  }
  void spread(std::span<std::byte> all) override {
    const std::size_t each = all.size() / meeting_.sent.size(), own = static_cast<std::size_t>(rank_);
    const std::vector<std::byte> mine(all.begin() + static_cast<std::ptrdiff_t>(own * each),
                                      all.begin() + static_cast<std::ptrdiff_t>((own + 1) * each));
    meet(mine, [&] {
      for (std::size_t r = 0; r < meeting_.sent.size(); ++r)
        std::ranges::copy(meeting_.sent[r], all.begin() + static_cast<std::ptrdiff_t>(r * each));
    });
  }
  void share(std::span<std::byte> bytes, int owner) override {
    const std::vector<std::byte> mine(bytes.begin(), bytes.end());
    meet(mine, [&] { std::ranges::copy(meeting_.sent[static_cast<std::size_t>(owner)], bytes.begin()); });
  }

 private:
  template <class F> void meet(std::span<const std::byte> bytes, F read) {
    meeting_.sent[static_cast<std::size_t>(rank_)] = bytes;
    meeting_.barrier.arrive_and_wait();
    read();
    meeting_.barrier.arrive_and_wait();
  }

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
                                                const train::LoopOptions& options, bool divides = false) {
  Meeting meeting(count);
  std::vector<std::vector<double>> states(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      ThreadRank own(meeting, rank);
      train::LoopOptions mine = options;
      mine.ranks = &own;
      const train::Division division = divides ? train::Division{rank, count} : train::Division{};
      train::Trainer trainer = train::Trainer::shared(network(type), how(), {.threads = 1}, division);
      trainer.fit(data, mine);
      // Of each parameter one rank holds Adam's two variables.
      for (const char* name : {"w1", "b1", "w2", "b2"}) {
        const auto& owners = trainer.graphs().back().owners;
        EXPECT_EQ(trainer.runner().has_state("train/" + std::string(name) + "/second_moment"),
                  !divides || owners.at(name) == rank);
      }
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

/// The bits are those of ranks that hold everything, for any number of them.
TEST(SharedTraining, WithADividedOptimizerEndsInTheSameBits) {
  const test::TempDir directory;
  const train::Dataset data = rows(directory);
  for (const int count : {2, 3, 4}) {
    const auto whole = train_together(count, DType::f32, data, loop());
    const auto divided = train_together(count, DType::f32, data, loop(), true);
    for (const std::vector<double>& state : divided) EXPECT_EQ(state, whole[0]) << count;
  }
}

TEST(SharedTraining, WithADividedOptimizerGoesOnWithAnotherNumberOfRanksAndAlone) {
  const test::TempDir directory;
  const train::Dataset data = rows(directory);
  train::LoopOptions options = loop();
  options.checkpoints = directory / "checkpoints";
  options.restores_best = true;
  options.steps = 6;
  train_together(3, DType::f64, data, options, true);
  options.resumes = true;
  options.steps = 10;
  const auto two = train_together(2, DType::f64, data, options, true);
  std::filesystem::remove(directory.path() / "checkpoints" / "step-00000010.npz");
  train::Trainer alone(network(DType::f64), how(), {.threads = 1});
  const train::LoopReport report = alone.fit(data, options);
  EXPECT_EQ(report.resumed_at, 6u);
  const std::vector<double> expected = state_of(alone);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(two[0][i], expected[i], 1e-9);
}

/// Sums are in the order of the ranks, whichever rank adds which part.
TEST(SharedTraining, SumsAreRoundedOnceInTheOrderOfTheRanks) {
  constexpr int kCount = 3;
  constexpr std::size_t kNumbers = 10;
  Meeting meeting(kCount);
  std::vector<std::vector<float>> numbers(kCount);
  std::mt19937 generator(6);
  for (auto& list : numbers)
    for (std::size_t i = 0; i < kNumbers; ++i)
      list.push_back(std::uniform_real_distribution<float>(-1e6f, 1e6f)(generator));
  const std::vector<double> weights = {0.25, 0.5, 0.25};
  std::vector<float> expected;
  for (std::size_t i = 0; i < kNumbers; ++i) {
    double sum = 0;
    for (std::size_t r = 0; r < kCount; ++r) sum += static_cast<double>(numbers[r][i]) * weights[r];
    expected.push_back(static_cast<float>(sum));
  }
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kCount; ++rank)
    threads.emplace_back(
        [&, rank] { ThreadRank(meeting, rank).add(std::span(numbers[static_cast<std::size_t>(rank)]), weights); });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& list : numbers) EXPECT_EQ(list, expected);
}

/// What is known travels before the rest is: a bucket is on its way while the step computes.
TEST(SharedTraining, WhatIsKnownEarlyTravelsEarly) {
  Meeting meeting(2);
  const Array large(DType::f32, {1 << 18}), small(DType::f32, {4});
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      ThreadRank own(meeting, rank);
      train::Exchange exchange(own, {"late layer", "early layer"}, {0.5, 0.5});
      exchange.give("late layer", large);
      while (meeting.messages < 2) std::this_thread::yield();  // ends only if the first goes without the second
      exchange.give("early layer", small);
      EXPECT_EQ(exchange.finish().size(), 2u);
    });
  for (std::thread& thread : threads) thread.join();
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
