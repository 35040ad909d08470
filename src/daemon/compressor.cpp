#include "daemon/compressor.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/limits.hpp"
#include "platform/log.hpp"
#include "wire/message_line.hpp"

namespace knell {

namespace {

/// Messages that are read at a time.
constexpr std::size_t page = 500;

std::vector<Provider> providers_of(const SummarizerSettings& settings) {
    std::vector<Provider> providers;
    for (const auto& provider : settings.providers) {
        providers.push_back({provider.name, provider.command, provider.timeout});
    }
    return providers;
}

/// Behind which message the tail begins.  Where there are no more messages than it may have, it is
/// the later half of them: to go on with all of them wins nothing.  0 where none can be left out.
std::int64_t first_kept(std::int64_t messages, std::int64_t tail) {
    if (messages > tail) return messages - tail;
    const auto kept = messages / 2;
    return kept == 0 ? 0 : messages - kept;
}

/// Not that compressing failed: there is nothing to compress, or it is not the caller's.
bool is_about_the_session(const Error& error) {
    return error.code != ErrorCode::limit && error.code != ErrorCode::storage &&
           error.code != ErrorCode::internal;
}

/// Why that session cannot be compressed, if it cannot.
std::optional<Error> why_not(const std::optional<Session>& row, const SessionId& session_id,
                             Generation generation) {
    if (!row) {
        return Error{
            ErrorCode::not_found,
            fmt::format("no session {}; `knell ls --all` lists what there is", session_id.text()),
            {},
            {}};
    }
    if (row->end) {
        return Error{ErrorCode::ended,
                     fmt::format("session {} ended at {} ({}); only an open one is compressed",
                                 session_id.text(), format_rfc3339(row->end->ended_at),
                                 name_of(row->end->reason)),
                     {},
                     EndedAs{row->end->reason, row->end->ended_at, row->generation,
                             row->owner.process, row->former_owners, row->successor_id}};
    }
    if (row->generation != generation) {
        return Error{ErrorCode::fenced,
                     fmt::format("generation {} of session {} may not compress it: the session is "
                                 "at generation {}",
                                 generation, session_id.text(), row->generation),
                     "generation", FencedBy{row->generation}};
    }
    return std::nullopt;
}

/// A turn is on, and it was not to be done then.  One that is parked is `blocked`, too.
bool is_for_a_turn(const Error& error) {
    return error.code == ErrorCode::blocked && !std::holds_alternative<Unowned>(error.facts);
}

}  // namespace

Result<Compressor::Prepared> Compressor::prepare(Reader& reader, const SessionId& session_id,
                                                 Generation generation, std::size_t tail) const {
    const auto row = reader.find(session_id);
    if (!row) return std::unexpected(row.error());
    if (auto why = why_not(*row, session_id, generation)) return std::unexpected(std::move(*why));
    const auto& session = **row;
    auto input = SummaryInput::create(with_.directory);
    if (!input) return std::unexpected(std::move(input.error()));
    Prepared prepared;
    const auto last = session.tally.messages;
    prepared.tail_after = first_kept(last, static_cast<std::int64_t>(tail));
    // Messages are numbered from 1 without holes.
    for (std::int64_t number = 0; number < last;) {
        const auto messages = reader.messages(
            {.session = session.ordinal, .limit = page, .before = number + std::int64_t{page} + 1});
        if (!messages) return std::unexpected(messages.error());
        if (messages->messages.empty()) break;
        for (const auto& message : messages->messages) {
            if (number == last) break;
            ++number;
            if (auto added = input->add_line(wire::message_line(message), message.content.size());
                !added) {
                return std::unexpected(std::move(added.error()));
            }
            count(prepared.all, message);
            if (number <= prepared.tail_after) count(prepared.before_tail, message);
        }
    }
    auto written = input->finish();
    if (!written) return std::unexpected(std::move(written.error()));
    prepared.input = std::move(*written);
    return prepared;
}

void Compressor::follow_settings(const SummarizerSettings& settings) {
    if (settings == settings_) return;
    // What failed may work now.
    settings_ = settings;
    cool_downs_.emplace(settings_.cool_down);
}

void Compressor::compress(const SessionId& session_id, Generation generation, std::string said_by,
                          rpc::Done<rpc::CompressResult> done) {
    follow_settings(with_.config.current()->summarizer);
    if (const auto under_way = runs_.find(session_id); under_way != runs_.end()) {
        auto& run = under_way->second;
        if (run.generation == generation) {
            run.waiting.push_back(std::move(done));
            run.is_asked_for = true;
            if (auto ready = std::exchange(run.ready, std::nullopt)) {
                record(session_id, std::move(*ready));
            }
            return;
        }
        return done(fail(ErrorCode::blocked,
                         fmt::format("session {} is being compressed for its generation {}; try "
                                     "again when that is over",
                                     session_id.text(), under_way->second.generation)));
    }
    auto& run = runs_[session_id];
    ++under_way_;
    run.generation = generation;
    run.said_by = std::move(said_by);
    run.is_asked_for = done != nullptr;
    if (done) run.waiting.push_back(std::move(done));
    if (queue_.size() >= limits::summary_queue_max) {
        return give_up(session_id, fmt::format("{} sessions wait to be compressed already; try "
                                               "again later",
                                               queue_.size()));
    }
    queue_.push_back(session_id);
    start_waiting();
}

void Compressor::start_waiting() {
    while (places_taken_ < limits::summary_jobs_max && !queue_.empty()) {
        const auto next = std::move(queue_.front());
        queue_.pop_front();
        start(next);
    }
}

void Compressor::start(const SessionId& session_id) {
    auto& run = runs_.at(session_id);
    run.has_place = true;
    ++places_taken_;
    run.settings = with_.config.current()->summarizer;
    with_.reads.run(
        rpc::ConnectionId::none,
        [this, session_id, generation = run.generation, tail = run.settings.tail_messages](
            Reader& reader) { return prepare(reader, session_id, generation, tail); },
        [this, session_id](Result<Prepared> prepared) {
            if (!prepared) return refuse(session_id, std::move(prepared.error()));
            summarise(session_id, std::move(*prepared));
        });
}

void Compressor::note_ends(const std::vector<Event>& events) {
    // One that is asked for from now on reads of the end itself.
    if (under_way_ == 0) return;
    for (const auto& event : events) {
        if (event.type != EventType::session_end) continue;
        with_.post([this, session_id = event.session_id, generation = event.generation] {
            note_end(session_id, generation);
        });
    }
}

void Compressor::note_end(const SessionId& session_id, Generation generation) {
    const auto run = runs_.find(session_id);
    if (run == runs_.end() || run->second.generation != generation) return;
    run->second.has_ended = true;
    // The next step of one that has a place sees it.
    if (run->second.ready) return answer_ended(session_id);
    if (run->second.has_place) return runner_.cancel(session_id);
    if (std::erase(queue_, session_id) > 0) answer_ended(session_id);
}

void Compressor::carry_out(StartCompression&& effect) {
    with_.post([this, effect = std::move(effect)] {
        follow_settings(with_.config.current()->summarizer);
        if (const auto run = runs_.find(effect.session_id); run != runs_.end()) {
            run->second.has_turn_ended = true;
            if (auto ready = std::exchange(run->second.ready, std::nullopt)) {
                record(effect.session_id, std::move(*ready));
            }
            return;
        }
        if (!cool_downs_->may_start(effect.session_id, with_.steady())) return;
        compress(effect.session_id, effect.generation, "summarizer.at_tokens of the config", {});
    });
}

void Compressor::summarise(const SessionId& session_id, Prepared prepared) {
    auto& run = runs_.at(session_id);
    if (run.has_ended) return answer_ended(session_id);
    if (prepared.all.messages == 0) return give_up(session_id, "nothing was said in it yet");
    SummaryJob job;
    job.node = with_.node;
    job.session_id = session_id;
    job.generation = run.generation;
    job.providers = providers_of(run.settings);
    job.input = std::move(prepared.input.file);
    job.input_bytes = prepared.input.input_bytes;
    job.content_bytes = prepared.input.content_bytes;
    run.prepared = std::move(prepared);
    if (job.providers.empty()) {
        // They are not known either where the config cannot be read.
        std::string why =
            "no provider is configured; add one to summarizer.providers in config.yaml";
        const auto trouble = with_.config.trouble();
        if (with_.config.current()->has_fallen_back("summarizer") && !trouble.empty()) {
            why = trouble.front();
        }
        return finish(session_id, {.failures = {std::move(why)}});
    }
    auto submitted = runner_.submit(std::move(job), [this, session_id](SummaryOutcome outcome) {
        with_.post([this, session_id, outcome = std::move(outcome)]() mutable {
            finish(session_id, std::move(outcome));
        });
    });
    if (!submitted) give_up(session_id, std::move(submitted.error().message));
}

void Compressor::finish(const SessionId& session_id, SummaryOutcome outcome) {
    const auto& run = runs_.at(session_id);
    if (run.has_ended) return answer_ended(session_id);
    auto why = fmt::format("{}", fmt::join(outcome.failures, "; "));
    Compress compress;
    compress.session_id = session_id;
    compress.generation = run.generation;
    compress.child_id = with_.new_session_id();
    compress.said_by = run.said_by;
    if (outcome.ok) {
        compress.summary = std::move(outcome.summary);
        compress.provider = std::move(outcome.provider);
        compress.kept_after = run.prepared.all.messages;
        compress.before = run.prepared.all;
        return record(session_id, std::move(compress));
    }
    const bool wants_tail = run.settings.fallback == SummarizerSettings::Fallback::tail;
    // What a conversation loses it loses for good: not because there were no descriptors for a
    // moment.
    if (!wants_tail || run.prepared.tail_after == 0 || outcome.is_shortage) {
        return give_up(session_id, std::move(why));
    }
    compress.why_no_summary = std::move(why);
    compress.kept_after = run.prepared.tail_after;
    compress.before = run.prepared.before_tail;
    record(session_id, std::move(compress));
}

void Compressor::record(const SessionId& session_id, Compress compress) {
    auto provider = compress.provider;
    auto why = compress.why_no_summary;
    auto& run = runs_.at(session_id);
    compress.between_turns = !run.is_asked_for;
    run.has_turn_ended = false;
    auto again = compress;
    with_.submit(std::move(compress),
                 [this, session_id, provider = std::move(provider), why = std::move(why),
                  again = std::move(again)](Result<Reply> reply) mutable {
                     if (!reply && again.between_turns && is_for_a_turn(reply.error())) {
                         return wait_for_turn(session_id, std::move(again));
                     }
                     if (!reply) return refuse(session_id, std::move(reply.error()));
                     const auto& compressed = std::get<CompressedReply>(*reply);
                     cool_downs_->forget(session_id);
                     // A tail is what is left when every provider has failed: they would again.
                     if (compressed.outcome == CompressOutcome::tail) {
                         cool_downs_->note_failure(compressed.child.session_id, with_.steady());
                     }
                     log_info("session {} was compressed into {}{}", session_id.text(),
                              compressed.child.session_id.text(),
                              why.empty() ? " by " + provider : ", without a summary: " + why);
                     answer(session_id, rpc::CompressResult{compressed.outcome, compressed.child,
                                                            std::move(provider), std::move(why)});
                 });
}

void Compressor::wait_for_turn(const SessionId& session_id, Compress compress) {
    auto& run = runs_.at(session_id);
    if (run.has_ended) return answer_ended(session_id);
    if (run.is_asked_for || run.has_turn_ended) return record(session_id, std::move(compress));
    log_info("session {} has a summary by {}, which waits for the end of a turn", session_id.text(),
             compress.provider);
    run.ready = std::move(compress);
    leave_place(run);
}

void Compressor::leave_place(Run& run) {
    if (!std::exchange(run.has_place, false)) return;
    --places_taken_;
    with_.post([this] { start_waiting(); });
}

void Compressor::refuse(const SessionId& session_id, Error error) {
    if (is_about_the_session(error)) return answer(session_id, std::unexpected(std::move(error)));
    give_up(session_id, std::move(error.message));
}

void Compressor::give_up(const SessionId& session_id, std::string why) {
    cool_downs_->note_failure(session_id, with_.steady());
    log_warn("session {} was not compressed, and is as it was: {}", session_id.text(), why);
    CompressionFailed failed{session_id, runs_.at(session_id).generation, why};
    // Whoever asked hears of it once everybody else can.
    with_.record(std::move(failed), [this, session_id, why = std::move(why)](Result<Reply> reply) {
        if (!reply) return answer(session_id, std::unexpected(std::move(reply.error())));
        // Told of nobody: it has ended.
        if (std::get<NotedReply>(*reply).sessions == 0) return answer_ended(session_id);
        answer(session_id, rpc::CompressResult{CompressOutcome::failed, {}, {}, why});
    });
}

void Compressor::answer_ended(const SessionId& session_id) {
    with_.reads.run(
        rpc::ConnectionId::none,
        [session_id, generation = runs_.at(session_id).generation](Reader& reader) {
            const auto row = reader.find(session_id);
            if (!row) return row.error();
            return why_not(*row, session_id, generation)
                .value_or(Error{
                    ErrorCode::internal,
                    fmt::format("session {} was not compressed; ask again", session_id.text()),
                    {},
                    {}});
        },
        [this, session_id](Result<Error> why) {
            answer(session_id, std::unexpected(why ? std::move(*why) : std::move(why.error())));
        });
}

void Compressor::answer(const SessionId& session_id, const Result<rpc::CompressResult>& result) {
    const auto run = runs_.find(session_id);
    auto waiting = std::move(run->second.waiting);
    leave_place(run->second);
    runs_.erase(run);
    --under_way_;
    for (auto& done : waiting) done(result);
}

}  // namespace knell
