#include "modules/optimizer.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "modules/groups.h"
#include "modules/text.h"
#include "tracer/eager.h"

namespace thunder {
namespace {

const OptimizerRow& find_optimizer_row(std::string_view kind) {
  std::vector<std::string_view> names;
  for (auto& row : optimizer_rows()) {
    if (row.name == kind) return row;
    names.push_back(row.name);
  }
  fail(Code::not_found, "unknown optimizer '", kind.substr(0, 80), "'", suggest(kind, names));
}

// Checks options against a row and fills in its defaults. Throws for invalid values.
Settings make_settings(const OptimizerRow& row, const Options* options, const Settings* otherwise) {
  Settings settings(row.options, options, row.name, otherwise);
  if (row.complete) row.complete(settings);
  require(settings.real("lr") >= 0, row.name, ": lr must not be negative, got ", settings.real("lr"));
  row.check(row.name, settings);
  return settings;
}

// Whether the names are positions of a list.
bool are_numbered(std::span<const std::string> names) {
  for (size_t i = 0; i < names.size(); i++)
    if (names[i] != cat(i)) return false;
  return true;
}

}  // namespace

std::vector<std::string> leaf_names(const Values& values) {
  auto names = values.paths();
  // The names of the leaves inside a single map or list.
  const std::string& s = values.structure();
  const bool grouped = s.size() > 1 && s.back() != '*' &&
                       std::all_of(names.begin(), names.end(), [](auto& n) { return n.starts_with("0."); });
  if (grouped)
    for (auto& name : names) name.erase(0, 2);
  return names;
}

Optimizer::Optimizer(const ModuleEnvironment& environment, std::string_view kind, const Options* options)
    : row_(find_optimizer_row(kind)),
      defaults_(make_settings(row_, options, nullptr)),
      state_(make_module(environment, "Module", {})) {}

Optimizer::Optimizer(const ModuleEnvironment& environment, std::string_view kind, const Values& params,
                     const Options* options)
    : Optimizer(environment, kind, options) {
  add_group(environment, params, nullptr);
}

void Optimizer::add_group(const ModuleEnvironment& environment, const Values& params, const Options* options) {
  if (params.status()) throw Error(params.status());
  require(params.size() > 0, row_.name, ": the parameter list is empty");
  require(!row_.minimize || groups_.empty(), row_.name, ": its parameters are one group; there is one already");
  Group group{make_settings(row_, options, &defaults_), {}, params_.size(), params_.size() + params.size(), {}};
  if (row_.moments) group.moments = row_.moments(group.settings);

  std::vector<std::string> given = leaf_names(params), names = names_, group_names = group_names_;
  std::vector<Ref<Tensor>> all = params_;
  const bool is_list = are_numbered(given);
  std::unordered_map<const Tensor*, size_t> tensors;
  std::unordered_set<std::string_view> known(names_.begin(), names_.end());
  for (size_t i = 0; i < params_.size(); i++) tensors.emplace(params_[i].get(), i);
  for (size_t i = 0; i < params.size(); i++) {
    names.push_back(is_list ? cat(group.first + i) : given[i]);
    group_names.push_back(cat(groups_.size(), ".", given[i]));
    const Ref<Tensor>& t = params[i].tensor;
    require(t && t->concrete() && is_real(t->type().dtype), row_.name, ": parameter '", names.back(),
            "' must be a real tensor with data", t && t->concrete() ? cat(", got ", name(t->type())) : "");
    require(!row_.needs_whole || !t->sharding(), row_.name, ": parameter '", names.back(), "' is a shard, ",
            name(t->type()), ", and it moves whole parameters alone; SGD, AdamW and their like move shards");
    if (row_.check_parameter) row_.check_parameter(row_.name, names.back(), t->type());
    auto [it, fresh] = tensors.emplace(t.get(), all.size());
    require(fresh, row_.name, ": parameters '", names[it->second], "' and '", names.back(),
            "' are one tensor; give it once");
    require(!known.contains(names.back()), row_.name, ": an earlier group has a parameter '", names.back(),
            "'; names differ among all groups");
    all.push_back(t);
  }
  const size_t index = groups_.size();
  groups_.reserve(index + 1);
  StateAdditions state(environment, *state_);
  state.number(group_path(index, "lr"), group.settings.real("lr"));
  state.number(group_path(index, "step"), 0);
  add_moments(group, names, all, state);
  if (row_.joint_moments) add_joint_moments(group.settings, names, all, state);
  std::vector<std::string> counts = state_->optional_numbers();
  if (row_.prepare)
    for (size_t i = group.first; i < group.end; i++) counts.push_back(skipped_path(names[i]));
  state.keep();
  state_->set_optional_numbers(std::move(counts));
  names_ = std::move(names), group_names_ = std::move(group_names), params_ = std::move(all);
  groups_.push_back(std::move(group));
}

void Optimizer::add_moments(const Group& group, std::span<const std::string> names, std::span<const Ref<Tensor>> params,
                            StateAdditions& state) {
  for (size_t i = group.first; i < group.end; i++)
    for (const Moment& moment : moments_of(group, params[i]->type()))
      add_moment(moment, names[i], params[i]->type(), state);
}

void Optimizer::add_moment(const Moment& moment, std::string_view name, TensorType type, StateAdditions& state) {
  if (moment.scalar) type.dtype = DType::f64, type.device = Device::cpu, type.shape = {};  // as lr and step are
  const size_t rank = type.rank();
  if (moment.part == Moment::Part::rows) type.shape[rank - 1] = Dim(1);
  if (moment.part == Moment::Part::columns) type.shape[rank - 2] = Dim(1);
  state.filled(join_path(moment.name, name), type, moment.initial);
}

// ---- values by name ----

Optimizer::Place Optimizer::place(std::string_view name) const {
  Place at{0, name};
  if (name.starts_with(kParameterGroups)) {
    const std::string_view rest = name.substr(kParameterGroups.size());
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), at.group);
    require(error == std::errc() && end != rest.data() + rest.size() && *end == '.', row_.name,
            ": a value of a group is ", kParameterGroups, "GROUP.NAME, got '", name, "'");
    at.name = rest.substr(static_cast<size_t>(end - rest.data()) + 1);
    require(at.group < groups_.size(), row_.name, ": there is no parameter group ", at.group, "; there are ",
            groups_.size(), ", the first is 0");
    return at;
  }
  require(!groups_.empty(), row_.name, ": there are no parameters yet; add a group");
  require(groups_.size() == 1 || !scalar(at), row_.name, ": each of the ", groups_.size(),
          " parameter groups has its own '", name, "'; the first one's is '", kParameterGroups, "0.", name, "'");
  return at;
}

Tensor* Optimizer::scalar(const Place& at) const {
  const Module::NamedSlot* slot = state_->find_tensor(group_path(at.group, at.name));
  const bool is_number = slot && slot->tensor->type().rank() == 0 && slot->tensor->type().dtype == DType::f64;
  return is_number ? slot->tensor.get() : nullptr;
}

void Optimizer::refuse(const Place& at) const {
  std::vector<std::string_view> known = {"lr", "step"};
  for (const OptionRow& option : row_.options) known.push_back(option.name);
  fail(Code::not_found, row_.name, ": unknown value '", at.name, "'", suggest(at.name, known));
}

Tensor& Optimizer::number(std::string_view name) const {
  const Place at = place(name);
  Tensor* t = scalar(at);
  if (!t) refuse(at);
  return *t;
}

void Optimizer::set_f64(std::string_view name, double value) {
  Tensor& t = number(name);
  *reinterpret_cast<double*>(t.data()) = value;
  t.bump();
}

double Optimizer::get_f64(std::string_view name) const {
  const Place at = place(name);
  if (at.name == "initial_lr") return initial_lr(at.group);
  if (const Tensor* t = scalar(at)) return *reinterpret_cast<const double*>(t->data());
  if (!defaults_.has(option_of(at.name))) refuse(at);
  return groups_[at.group].settings.number(row_.name, at.name);
}

double Optimizer::initial_lr(size_t group) const {
  const auto& kept = groups_.at(group).initial_lr;
  return kept ? *kept : get_f64(cat(kParameterGroups, group, ".lr"));
}

void Optimizer::keep_initial_lr(std::span<const double> rates) noexcept {
  for (size_t g = 0; g < rates.size(); g++)
    if (!groups_[g].initial_lr) groups_[g].initial_lr = rates[g];
}

std::string Optimizer::text() const {
  std::string out = cat(row_.name, " (\n");
  for (size_t g = 0; g < groups_.size(); g++) {
    out += cat("Parameter Group ", g, "\n");
    for (const OptionRow& option : row_.options) {
      const Tensor* t = scalar({g, option.name});
      out += cat(
          "    ", option.name, ": ",
          t ? real_text(*reinterpret_cast<const double*>(t->data())) : leaf_text(groups_[g].settings.leaf(option.name)),
          "\n");
    }
  }
  return out + ")";
}

}  // namespace thunder
