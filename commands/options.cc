#include "commands/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "commands/bench.h"
#include "suites/property.h"

namespace tutti {

namespace {

// Help fits 80 columns and 24 lines: descriptions here have 58 characters at most.
constexpr std::size_t kHelpColumn = 22;

// Without the blank line that CLI11 prints for options that are not shown.
class Formatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    while (text.ends_with("\n\n")) text.pop_back();
    return text;
  }
};

// What is changed on the node, in the order of the words; one line of help for all four.
void add_node_changes(CLI::App& command, Options& options) {
  const auto add = [&](const std::string& option, const std::string& what,
                       const std::string& help) {
    const auto take = [&options, what](const std::vector<std::string>& values) {
      for (const std::string& value : values) options.changes += "," + what + value;
    };
    return command.add_option_function<std::vector<std::string>>(option, take, help)
        ->delimiter(',')
        ->trigger_on_parse();
  };
  add("--without", "without:", "of the node; also --with, --capability, --rank R:no_peer")
      ->option_text("FEATURES");
  for (const char* name : {"with", "capability", "rank"})
    add(std::string("--") + name, std::string(name) + ":", "")->group("");
}

std::string seconds_problem(const std::string& text) {
  constexpr double kMost = 1e8;  // three years
  double value = 0;
  const bool is_number = CLI::detail::lexical_cast(text, value);
  const bool is_time = is_number && value > 0 && value <= kMost;  // false for NaN
  return is_time ? "" : fmt::format("{}: write seconds, more than 0 and up to 1e8", text);
}

void add_run_options(CLI::App& run, Options& options) {
  run.add_option("--backend", options.backends, "names, or paths of plugins (./libmine.so) [all]")
      ->delimiter(',')
      ->option_text("NAMES");
  run.add_option("--node", options.node, "to pretend to be [real where there is a GPU, else host]")
      ->option_text("NAME");
  add_node_changes(run, options);
  run.add_option("--world", options.worlds, "such as 1..8 or 2,4 [1 to the number of ranks]")
      ->option_text("SIZES");
  run.add_option("--dtype", options.dtypes, "such as fp32,bf16 [all]")
      ->delimiter(',')
      ->option_text("NAMES");
  run.add_option("--op", options.ops, "such as sum,max [all]")
      ->delimiter(',')
      ->option_text("NAMES");
  run.add_option("--filter", options.filter,
                 "GoogleTest's, over backend/node.property/wN: '*exact*w3'")
      ->option_text("TEXT");
  run.add_option("--profile", options.profile, "how much is drawn: quick or nightly [quick]")
      ->check(CLI::IsMember({"quick", "nightly"}))
      ->option_text("NAME");
  run.add_option("--seed", options.seed, "the same one draws the same cases [1]")->option_text("N");
  run.add_option("--cases", options.cases, "cases a cell [the profile's]")
      ->check(CLI::PositiveNumber)
      ->option_text("N");
  run.add_option("--cells", options.cells,
                 "spread over all; 0: all, as with --filter or in nightly")
      ->check(CLI::NonNegativeNumber)
      ->option_text("N");
  run.add_option("--time", options.time_seconds, "seconds after which no new case is begun")
      ->check(seconds_problem)
      ->option_text("N");
  run.add_option("--shrink", options.shrink_seconds, "seconds for making one failure smaller")
      ->check(seconds_problem)
      ->option_text("N");
  run.add_option("--trace", options.trace, "gets the line of every case drawn, in order")
      ->option_text("FILE");
  run.add_option("--out", options.out, "for the reports [reports/out/...]")->option_text("FOLDER");
}

void add_common_options(CLI::App& command, Options& options) {
  command.add_option("--np,-n", options.ranks, "ranks, when mpirun is started from here [8]")
      ->check(CLI::Range(1, 1024))
      ->option_text("N");
  command
      .add_option("--isolation", options.isolation,
                  "process, or none: the backend in the rank, for debuggers")
      ->check(CLI::IsMember({"process", "none"}))
      ->option_text("HOW");
  command
      .add_option("--deadline-ms", options.deadline_ms, "of every wait inside a backend [10000]")
      ->check(CLI::Range(std::uint64_t{100}, std::uint64_t{3'600'000}))
      ->option_text("N");
}

std::string bench_problem(const std::string& subject) {
  if (find_bench_subject(subject)) return "";
  return fmt::format("'{}' cannot be measured; nearest: {}", subject,
                     nearest(subject, bench_subject_names()));
}

// Of fp32 elements, and no more than a backend's largest call.
std::string size_problem(const std::string& bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
  std::uint64_t value = 0;
  const char* const end = bytes.data() + bytes.size();
  const auto [rest, error] = std::from_chars(bytes.data(), end, value);
  const bool is_size = error == std::errc{} && rest == end && bytes.front() != '0' &&
                       value <= kMost && value % sizeof(float) == 0;
  return is_size ? ""
                 : fmt::format("{} bytes: write 4 bytes to 1GiB, in whole fp32 elements", bytes);
}

void add_bench_options(CLI::App& bench, Options& options) {
  std::string subjects = "what is measured:";
  for (const BenchSubject& subject : kBenchSubjects)
    subjects += fmt::format("\n  {}: {}", subject.name, subject.what);
  bench.add_option("SUBJECT", options.bench, subjects)->check(bench_problem);
  bench.add_option("--backend", options.backends, "names, or paths of plugins [those that suit]")
      ->delimiter(',')
      ->option_text("NAMES");
  bench.add_option("--node", options.node, "to measure on [real where there is a GPU, else host]")
      ->option_text("NAME");
  bench
      .add_option("--world", options.worlds, "of latency [2, 4 and 8, as far as there are devices]")
      ->option_text("SIZES");
  bench.add_option("--size", options.sizes, "messages of latency [8KiB,64KiB,1MiB]")
      ->delimiter(',')
      ->check(size_problem)
      ->transform(CLI::AsSizeValue(false))
      ->option_text("SIZES");
}

void add_doctor_options(CLI::App& doctor, Options& options) {
  doctor.add_option("--node", options.node, "to look at [real where there is a GPU, else host]")
      ->option_text("NAME");
  add_node_changes(doctor, options);
  doctor.add_option("--backend", options.backends, "names, or paths of plugins [all]")
      ->delimiter(',')
      ->option_text("NAMES");
  doctor
      .add_option("--world", options.worlds, "such as 2,6,8 [one, as large as the node, up to 8]")
      ->option_text("SIZES");
}

void add_diff_options(CLI::App& diff, Options& options) {
  diff.add_option("A", options.before, "folder of the earlier run, or its report.json")->required();
  diff.add_option("B", options.after, "folder of the later run")->required();
  diff.add_option("--earlier", options.earlier,
                  "a run before A, for what --time left out; newest first")
      ->allow_extra_args(false)
      ->option_text("FOLDER");
  diff.add_flag("--json", options.json, "for programs, with the records of what changed");
  diff.footer("Exit status: 0 nothing is newly red, 1 something is, 2 nothing is comparable.");
}

// CLI11 takes -np as -n p; users know it from mpirun.
std::vector<std::string> with_np(int count, char** arguments) {
  std::vector<std::string> words;
  for (int i = count - 1; i > 0; --i)
    words.emplace_back(std::string(arguments[i]) == "-np" ? "--np" : arguments[i]);
  return words;
}

// "--jsn: nearest: --json", for what was not understood.
std::string nearest_of_extras(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  std::vector<std::string> commands, flags;
  for (const CLI::App* command : app.get_subcommands(nullptr))
    commands.push_back(command->get_name());
  for (const CLI::App* command : parsed) {
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    }
  }
  std::string text;
  for (const std::string& word : app.remaining(true)) {
    const bool is_flag = word.starts_with("-");
    if (is_flag ? flags.empty() : !parsed.empty()) continue;
    text += fmt::format("{}: nearest: {}\n", word, nearest(word, is_flag ? flags : commands));
    if (!is_flag) break;  // what follows an unknown command belongs to it
  }
  return text;
}

}  // namespace

bool parse_options(int count, char** arguments, Options& options, int& status) {
  CLI::App app{"tutti: fault injection and conformance for collective backends", "tutti"};
  app.require_subcommand(1);
  app.formatter(std::make_shared<Formatter>());
  app.get_formatter()->column_width(kHelpColumn);
  CLI::App* run = app.add_subcommand("run", "check backends and write a report");
  CLI::App* list =
      app.add_subcommand("list", "backends, nodes, properties, faults and report formats");
  CLI::App* replay = app.add_subcommand("replay", "carry out one case line in fresh workers");
  CLI::App* bench = app.add_subcommand("bench", "measure the suite, and backends side by side");
  CLI::App* doctor =
      app.add_subcommand("doctor", "a node as backends see it, and the paths they would take");
  CLI::App* diff = app.add_subcommand("diff", "what changed from one run to another");
  add_run_options(*run, options);
  add_common_options(*run, options);
  add_common_options(*replay, options);
  replay->add_option("line", options.line, "the case line, in quotes")->required();
  add_bench_options(*bench, options);
  add_common_options(*bench, options);
  add_doctor_options(*doctor, options);
  add_diff_options(*diff, options);
  try {
    app.parse(with_np(count, arguments));
  } catch (const CLI::ParseError& error) {
    status = app.exit(error) == 0 ? 0 : 2;
    if (status != 0) fmt::print(stderr, "{}", nearest_of_extras(app));
    return false;
  }
  options.node += options.changes;
  for (const CLI::App* command : {run, list, replay, bench, doctor, diff}) {
    if (command->parsed()) options.command = command->get_name();
  }
  return true;
}

Profile profile_of(const Options& options) {
  Profile profile;
  if (options.profile == "nightly") profile = {"nightly", 60, 64u << 20, 20, 60, 0, 1};
  if (options.cases > 0) profile.cases = options.cases;
  if (options.filter != "*") profile.cells_most = 0;  // who filters has chosen already
  if (options.cells) profile.cells_most = *options.cells;
  if (profile.cells_most == 0) profile.worlds_of_nodes = 1;
  if (options.shrink_seconds > 0) profile.shrink_seconds = options.shrink_seconds;
  return profile;
}

namespace {

int number(std::string_view text, const std::string& all) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1) {
    throw std::runtime_error(
        fmt::format("--world '{}': '{}' is no world size; write 1..8 or 2,4", all, text));
  }
  return value;
}

// All of an enumeration in the order of strata, or those that are named.
template <typename Enum, typename All>
std::vector<Enum> chosen(const char* option, const std::vector<std::string>& names_given,
                         const All& all) {
  if (names_given.empty()) return {all.begin(), all.end()};
  std::vector<Enum> result;
  for (const std::string& name : names_given) {
    const auto value = parse<Enum>(name);
    if (!value) {
      throw std::runtime_error(fmt::format("{} '{}' is unknown; nearest: {}", option, name,
                                           nearest(name, names<Enum>())));
    }
    if (std::find(result.begin(), result.end(), *value) == result.end()) result.push_back(*value);
  }
  return result;
}

}  // namespace

std::vector<Dtype> dtypes_of(const std::vector<std::string>& names) {
  return chosen<Dtype>("--dtype", names, kDtypes);
}
std::vector<Op> ops_of(const std::vector<std::string>& names) {
  return chosen<Op>("--op", names, kOps);
}

std::vector<int> worlds_of(const std::string& text, int ranks) {
  std::vector<int> worlds;
  const std::string given = text.empty() ? fmt::format("1..{}", ranks) : text;
  std::string_view rest = given;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const auto dots = part.find("..");
    const int first = number(part.substr(0, dots), given);
    const int last = dots == std::string_view::npos ? first : number(part.substr(dots + 2), given);
    if (last < first) {
      throw std::runtime_error(
          fmt::format("--world {}: {} goes backwards; write {}..{}", given, part, last, first));
    }
    if (last > ranks) {
      throw std::runtime_error(
          fmt::format("--world {} needs {} ranks, and there are {}; start with -np {}", given, last,
                      ranks, last));
    }
    for (int world = first; world <= last; ++world) {
      if (std::find(worlds.begin(), worlds.end(), world) == worlds.end()) worlds.push_back(world);
    }
  }
  if (worlds.empty()) throw std::runtime_error(fmt::format("--world '{}' names no world", given));
  return worlds;
}

}  // namespace tutti
