#include "testing/in_process_backend.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/uuid.hpp"
#include "rpc/method_table.hpp"
#include "store/memory/memory_store.hpp"
#include "testing/commands.hpp"
#include "testing/field_check.hpp"
#include "wire/envelope.hpp"

namespace knell::testing {

namespace {

/// Where the answer to `line` is not what the rows of its method say; "" when it is.
std::string breach_in_answer(std::string_view line, std::string_view answer) {
    const auto request = wire::parse_request(line);
    if (!request || answer.empty()) return {};
    const auto method = std::ranges::find(rpc::methods(), request->method, &rpc::Method::name);
    if (method == rpc::methods().end()) return {};
    const auto told = wire::parse_json(answer);
    if (const auto* result = wire::object_at(told->get_object(), "result")) {
        return breach_of(method->result, *result);
    }
    const auto* data = wire::object_at(told->at("error").get_object(), "data");
    const auto field = wire::text_at(*data, "field");
    if (field.empty() || is_row(method->params, field)) return {};
    return std::string(field) + " is in no row";
}

}  // namespace

InProcessBackend::InProcessBackend()
    : store_(std::make_unique<NotingStore>(make_memory_store())),
      journal_(state_, *store_),
      feeds_(store_->node_id(),
             [this](EventQuery query, const wire::Framing& framing, rpc::Feeds::Done done) {
                 done(rpc::read_feed_page(*reader_, std::move(query), framing, store_->node_id()));
             }),
      dispatcher_(*this),
      now_(at(0)) {
    reader_ = std::move(*store_->open_reader());
    processes_.start(100, 7);
    processes_.start(200, 8);
    caller_.who = dispatcher_.identify(/*pid=*/100, /*uid=*/1000, /*pidfd=*/-1);
    CHECK(journal_.recover(now_, processes_.boot_id()));
}

std::string InProcessBackend::answer(std::string_view line, const rpc::Caller& caller) {
    std::string answer;
    int answers = 0;
    dispatcher_.handle(line, caller, [&](const std::optional<wire::Answer>& reply) {
        if (reply) answer = wire::answer_line(*reply);
        ++answers;
    });
    CHECK(answers == 1);
    if (const auto breach = breach_in_answer(line, answer); !breach.empty()) {
        check_failed((breach + " in " + answer).c_str(), __FILE__, __LINE__);
    }
    return answer;
}

Result<Reply> InProcessBackend::commit(Input&& input) {
    std::vector<Input> inputs;
    inputs.push_back(std::move(input));
    auto step = journal_.commit(std::move(inputs), now_);
    tell(step);
    return std::move(step.replies.front());
}

void InProcessBackend::tell(const Journal::Step& step) {
    feeds_.publish(step.events);
    for (const auto& effect : step.effects) {
        const auto* ended = std::get_if<ReleaseClients>(&effect);
        if (ended != nullptr) dispatcher_.release(ended->session_id, ended->generation);
    }
}

void InProcessBackend::pass(std::chrono::milliseconds time) {
    now_.wall += time;
    now_.steady += time;
    now_.boot += time;
    do tell(journal_.commit({}, now_));
    while (journal_.has_work_left());
}

void InProcessBackend::submit(Command&& command, rpc::Done<Reply> done) {
    take(std::move(command), std::move(done));
}

void InProcessBackend::ask(Question&& question, rpc::Done<Reply> done) {
    take(std::move(question), std::move(done));
}

void InProcessBackend::take(Input&& input, rpc::Done<Reply> done) {
    submitted.push_back(input);
    if (refusals.empty()) return done(commit(std::move(input)));
    const auto refusal = std::move(refusals.front());
    refusals.pop_front();
    done(std::unexpected(refusal));
}

void InProcessBackend::read(rpc::ConnectionId, rpc::ReadWork work, rpc::Respond done) {
    if (forgets_reads) return;
    if (refuses_reads) {
        done(fail(ErrorCode::limit, "too many reads are waiting"));
    } else if (holds_reads) {
        held_.push_back({std::move(work), std::move(done)});
    } else {
        done(work(*reader_));
    }
}

void InProcessBackend::forgotten(std::string_view, std::move_only_function<void()> answer) {
    if (is_over_) return;
    CHECK(forgets_reads);
    answer();
}

void InProcessBackend::do_reads() {
    for (auto& [work, done] : std::exchange(held_, {})) done(work(*reader_));
}

Result<rpc::NodeStatus> InProcessBackend::node_status(Reader&) const {
    return rpc::NodeStatus{.open = state_.open_count()};
}

void InProcessBackend::search_leftovers(const SessionId& session, pid_t,
                                        std::optional<ProcessIdentity> reaper,
                                        std::move_only_function<void(rpc::CommandEnd)> done) {
    searches.push_back({session, std::move(reaper)});
    after_a_look([this, done = std::move(done)]() mutable { done(found); });
}

void InProcessBackend::after_a_look(std::move_only_function<void()> then) {
    if (!holds_looks) return then();
    looks_.push_back(std::move(then));
}

void InProcessBackend::do_look() {
    if (looks_.empty()) return;
    auto then = std::move(looks_.front());
    looks_.pop_front();
    then();
}

void InProcessBackend::report_trouble(std::size_t bytes) {
    rpc::HookReport hook{.state = "failing"};
    hook.subscription.last_error = std::string(bytes, 'x');
    hooks_report.hooks = {std::move(hook)};
}

void InProcessBackend::hooks(rpc::HooksCall call, rpc::Done<rpc::HooksReply> done) {
    if (call.name.empty() && call.verb == rpc::HooksCall::Verb::retry) {
        return done(rpc::HooksRetried{});
    }
    if (call.name.empty()) return done(hooks_report);
    done(fail(ErrorCode::not_found, "no hook or webhook " + call.name));
}

void InProcessBackend::sweep(bool dry_run, Ordinal, rpc::Done<SweepReport> done) {
    done(SweepReport{.dry_run = dry_run});
}

ProcessId InProcessBackend::new_process_id() {
    return ProcessId::from_bits(static_cast<std::uint64_t>(++ids_));
}

void InProcessBackend::start_process(rpc::StartRequest request, rpc::Done<Reply> done) {
    started.push_back(request);
    constexpr pid_t first_pid = 1000;
    const auto pid = first_pid + static_cast<pid_t>(started.size());
    processes_.start(pid, /*start_ticks=*/1);
    RecordProcess record{.draft = std::move(request.draft),
                         .per_session_max = process_limits.per_session,
                         .node_max = process_limits.node};
    record.draft.process = *processes_.identify(pid);
    outputs[record.draft.id] = "";
    take(std::move(record), std::move(done));
}

Result<rpc::OutputPage> InProcessBackend::process_output(const rpc::OutputQuery& query) {
    const auto written = outputs.find(query.process_id);
    if (written == outputs.end()) return fail(ErrorCode::not_found, "its output is not kept");
    const auto& all = written->second;
    const auto first = all.size() - std::min(all.size(), output_kept);
    const auto tail = std::max(first, all.size() - std::min(all.size(), query.limit));
    const auto asked = query.after ? static_cast<std::size_t>(*query.after) : tail;
    const auto begin = std::min(std::max(asked, first), all.size());
    rpc::OutputPage page{.bytes = all.substr(begin, query.limit), .gap = {}};
    page.after = static_cast<std::int64_t>(begin);
    page.next = page.after + static_cast<std::int64_t>(page.bytes.size());
    page.more = static_cast<std::size_t>(page.next) < all.size();
    if (asked < first) {
        page.gap = Gap{static_cast<Seq>(asked), static_cast<Seq>(first) - 1};
    }
    return page;
}

std::optional<ActivityFacts> InProcessBackend::activity_of(const ProcessId& id) const {
    const auto seen = live_activity.find(id);
    return seen == live_activity.end() ? std::nullopt : std::optional(seen->second);
}

StopState InProcessBackend::stop_state(const BackgroundProcess& process) const {
    if (const auto set = live_stops.find(process.id); set != live_stops.end()) return set->second;
    return {.is_stopping = process.stop_asked_at && !process.exit, .left = {}};
}

SessionId InProcessBackend::new_session_id() {
    return SessionId(make_uuid7(now_.wall, {0, static_cast<std::uint64_t>(++ids_)}));
}

}  // namespace knell::testing
