// Every operator with the inputs nobody tests: zeros, NaN, infinities, extreme integers, empty and scalar tensors.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <set>

#include "ingot/base/budget.h"
#include "ingot/base/elements.h"
#include "ingot/base/error.h"
#include "ingot/base/threads.h"
#include "ingot/driver/load.h"
#include "ingot/engine/session.h"
#include "ingot/verify/test_case.h"
#include "ingot/verify/test_variant.h"
#include "tests/support/files.h"

namespace ingot::engine {
namespace {

using Inputs = std::vector<NamedDatum>;

enum class Corner { zero, minus_one, highest, lowest, nan, infinity, minus_infinity, denormal };
constexpr Corner kForFloats[] = {Corner::zero, Corner::minus_one, Corner::highest,        Corner::lowest,
                                 Corner::nan,  Corner::infinity,  Corner::minus_infinity, Corner::denormal};
constexpr Corner kForIntegers[] = {Corner::zero, Corner::minus_one, Corner::highest, Corner::lowest};

const char* name_of(Corner corner) {
  constexpr const char* kNames[] = {"zero", "-1", "highest", "lowest", "NaN", "infinity", "-infinity", "denormal"};
  return kNames[static_cast<int>(corner)];
}

float as_float(Corner corner) {
  using Range = std::numeric_limits<float>;
  constexpr float kValues[] = {0,
                               -1,
                               Range::max(),
                               Range::lowest(),
                               Range::quiet_NaN(),
                               Range::infinity(),
                               -Range::infinity(),
                               Range::denorm_min()};
  return kValues[static_cast<int>(corner)];
}

template <class T> T value_of(Corner corner) {
  const bool is_zero = corner == Corner::zero || corner == Corner::denormal;
  if constexpr (std::is_same_v<T, std::string>) {
    return is_zero ? "" : std::string("\xff\0\xf0", 3);
  } else if constexpr (std::is_same_v<T, bool>) {
    return !is_zero;
  } else if constexpr (std::is_same_v<T, double>) {
    if (corner == Corner::highest) return std::numeric_limits<double>::max();
    if (corner == Corner::denormal) return std::numeric_limits<double>::denorm_min();
    return as_float(corner);
  } else if constexpr (is_sub_byte(dtype_of<T>)) {
    return T::from_bits(is_zero ? 0 : corner == Corner::lowest ? 1u << (T::kBits - 1) : (1u << T::kBits) - 1);
  } else if constexpr (is_integer(dtype_of<T>)) {
    if (is_zero) return 0;
    if (corner == Corner::minus_one) return static_cast<T>(-1);
    return corner == Corner::lowest ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  } else if constexpr (is_complex(dtype_of<T>)) {
    return T(as_float(corner), as_float(corner));
  } else {
    return static_cast<T>(as_float(corner));
  }
}

bool is_float_like(const Datum& datum) {
  if (const Array* array = datum.array()) return is_float(array->dtype()) || is_complex(array->dtype());
  if (const Sequence* sequence = datum.sequence()) return sequence->empty() || is_float_like(sequence->front());
  return false;
}

Datum filled(const Datum& datum, Corner corner) {
  if (const Array* array = datum.array()) {
    Array result(array->dtype(), array->dims());
    dispatch(array->dtype(), Any{}, [&]<class T>() {
      for (T& element : result.mutable_data<T>()) element = value_of<T>(corner);
    });
    return result;
  }
  if (const Sequence* sequence = datum.sequence()) {
    Sequence result;
    for (const Datum& element : *sequence) result.push_back(filled(element, corner));
    return result;
  }
  return datum;
}

/// The first elements under other dimensions, repeated where there are too few.
Array resized(const Array& array, const Dims& dims) {
  Array result(array.dtype(), dims);
  dispatch(array.dtype(), Any{}, [&]<class T>() {
    const auto from = array.data<T>();
    const auto to = result.mutable_data<T>();
    for (std::size_t i = 0; i < to.size() && !from.empty(); ++i) to[i] = from[i % from.size()];
  });
  return result;
}

// What runs on this thread, for the message of a crash.
thread_local char current[256];

void say_what_crashed(int number) {
  const auto say = [](const char* text) { return ::write(2, text, std::strlen(text)); };
  if (say("crash in ") < 0 || say(current) < 0 || say("\n") < 0) ::_exit(3);
  ::signal(number, SIG_DFL);
  ::raise(number);
}

/// Runs the variants of one stored case.
class Runner {
 public:
  explicit Runner(const verify::TestCase& test) : test_(test), original_(driver::load(test.model).model) {}

  void run_all() {
    const verify::TestData data = verify::load_test_data(test_, 0, original_);
    Inputs stored;
    for (const auto& [name, value] : data.inputs) stored.push_back({name, value});
    model_ = original_.clone();
    session_.reset();
    run_values(stored);
    verify::hide_shapes(model_, verify::UnknownShapes::rank);
    session_.reset();
    run_shapes(stored);
    if (stored.size() < 2) return;
    // Weights are constants in real models, and fast kernels want them so.
    model_ = original_.clone();
    const Inputs first = with_constants(stored);
    verify::hide_shapes(model_, verify::UnknownShapes::symbolic);
    session_.reset();
    run_values(first);
    run_shapes(first);
  }

  const std::vector<std::string>& failures() const { return failures_; }
  int runs() const { return runs_; }
  int answers() const { return answers_; }

 private:
  /// Makes constants of all inputs but the first and those that are no tensors; returns the others.
  Inputs with_constants(const Inputs& stored) {
    Graph& graph = *model_.graph;
    Inputs left;
    std::set<std::string> made;
    for (const NamedDatum& input : stored) {
      const Array* array = input.value.array();
      Value* value = graph.find(input.name);
      if (left.empty() || !array || !value || value->initializer) {
        left.push_back(input);
        continue;
      }
      graph.replace_all_uses(value, graph.add_initializer("constant_" + input.name, array->to_tensor()));
      made.insert(input.name);
    }
    graph.erase_inputs_if([&](const Value& v) { return made.contains(v.name()); });
    return left;
  }

  void run_values(const Inputs& stored) {
    for (const Corner corner : kForFloats) {
      Inputs inputs = stored;
      for (NamedDatum& input : inputs)
        if (is_float_like(input.value)) input.value = filled(input.value, corner);
      run(inputs, std::string("floats ") + name_of(corner));
    }
    for (const Corner corner : kForIntegers) {
      Inputs all = stored;
      for (NamedDatum& input : all) input.value = filled(input.value, corner);
      run(all, std::string("all inputs ") + name_of(corner));
      for (std::size_t i = 0; i < stored.size() && stored.size() > 1; ++i) {
        if (is_float_like(stored[i].value)) continue;
        Inputs one = stored;
        one[i].value = filled(stored[i].value, corner);
        run(one, stored[i].name + " " + name_of(corner));
      }
    }
  }

  void run_shapes(const Inputs& stored) {
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const Array* array = stored[i].value.array();
      if (!array) continue;
      const auto with = [&](const Dims& dims, const std::string& what) {
        Inputs inputs = stored;
        inputs[i].value = resized(*array, dims);
        run(inputs, stored[i].name + " " + what);
      };
      with({}, "scalar");
      with({0}, "empty");
      for (std::size_t axis = 0; axis < array->dims().size(); ++axis) {
        Dims dims = array->dims();
        const std::int64_t extent = dims[axis];
        dims[axis] = 0;
        with(dims, "without elements on axis " + std::to_string(axis));
        Inputs inputs = stored;  // a size that inputs share is usually one dimension
        for (NamedDatum& input : inputs)
          if (const Array* a = input.value.array()) {
            Dims same = a->dims();
            for (std::int64_t& d : same)
              if (d == extent) d = 0;
            input.value = resized(*a, same);
          }
        run(inputs, "every dimension " + std::to_string(extent) + " is 0");
      }
    }
  }

  void run(const Inputs& inputs, const std::string& what) {
    const std::string where = test_.name + ": " + what;
    std::strncpy(current, where.c_str(), sizeof current - 1);
    ++runs_;
    const auto start = std::chrono::steady_clock::now();
    try {
      if (!session_) {
        budget_ = std::make_unique<Budget>(Limits{.memory = 256 << 20, .time = std::chrono::seconds(5)});
        session_ = std::make_unique<Session>(model_, SessionOptions{.budget = budget_.get(), .threads = 1});
      }
      session_->run(inputs);
      ++answers_;
    } catch (const Error& error) {
      if (error.code() == Code::internal) failures_.push_back(where + ": " + error.what());
      if (error.code() == Code::time_limit) session_.reset();  // the next one has its own time
    } catch (const std::exception& error) {
      failures_.push_back(where + ": an exception that is no Error: " + error.what());
    }
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds(8))
      failures_.push_back(where + ": did not stop at the time limit");
  }

  const verify::TestCase& test_;
  Model original_, model_;
  std::unique_ptr<Budget> budget_;
  std::unique_ptr<Session> session_;
  std::vector<std::string> failures_;
  int runs_ = 0, answers_ = 0;
};

TEST(CornerInputs, GiveOutputsOrAnErrorForEveryOperator) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "the official backend tests are not here (INGOT_SHARED)";
  for (const int number : {SIGSEGV, SIGFPE, SIGABRT, SIGBUS, SIGILL}) ::signal(number, say_what_crashed);
  const auto cases = verify::find_test_cases({(*shared / "onnx-backend-tests" / "node").string()});
  std::mutex mutex;
  std::vector<std::string> failures;
  int runs = 0, answers = 0;
  ThreadPool pool;
  pool.parallel_for(static_cast<std::int64_t>(cases.size()), 1, [&](std::int64_t begin, std::int64_t) {
    Runner runner(cases[static_cast<std::size_t>(begin)]);
    runner.run_all();
    const std::lock_guard lock(mutex);
    failures.insert(failures.end(), runner.failures().begin(), runner.failures().end());
    runs += runner.runs();
    answers += runner.answers();
  });
  for (const std::string& failure : failures) ADD_FAILURE() << failure;
  std::printf("%zu models, %d runs, %d with outputs\n", cases.size(), runs, answers);
  EXPECT_GT(answers, runs / 4) << "most runs were refused: the variants test little";
}

}  // namespace
}  // namespace ingot::engine
