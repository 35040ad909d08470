#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/config_holder.hpp"
#include "config/summarizer_settings.hpp"
#include "daemon/read_service.hpp"
#include "engine/effect.hpp"
#include "rpc/backend.hpp"
#include "summarize/cool_downs.hpp"
#include "summarize/input.hpp"
#include "summarize/runner.hpp"

namespace knell {

/// Has sessions summarised and puts children in their place.  Nothing of a session changes before
/// there is a summary: what was said is read, handed to the providers, and only then is the rest
/// decided, in one transaction.  The thread of the server, but for `carry_out` and `note_ends`.
///
///   waiting ─▶ reading ─▶ with the providers ─▶ being recorded ─▶ told
///
/// All but the first hold one of few places: only they have a file of what was said.  When its
/// session ends meanwhile, whoever asked is told that at once.
class Compressor {
  public:
    struct Dependencies {
        ReadService& reads;
        const ConfigHolder& config;
        std::string node;
        std::string directory;  // for what the providers read
        std::function<void(Command&&, rpc::Done<Reply>)> submit;
        std::function<void(Observation&&, rpc::Done<Reply>)> record;
        std::function<void(std::move_only_function<void()>)> post;
        std::function<SessionId()> new_session_id;
        std::function<SteadyTime()> steady;
    };
    explicit Compressor(Dependencies dependencies) : with_(std::move(dependencies)) {}

    /// Whoever asks while one is under way for the same generation hears of that one.
    void compress(const SessionId& session_id, Generation generation, std::string said_by,
                  rpc::Done<rpc::CompressResult> done);
    /// A turn has ended past `at_tokens`.  Not while an earlier attempt has only just failed.  Any
    /// thread.
    void carry_out(StartCompression&& effect);
    /// What providers make of sessions that have ended is of no use: they are stopped.  Any thread,
    /// once the events are on record.
    void note_ends(const std::vector<Event>& events);
    void stop() { runner_.stop(); }

  private:
    /// What was said, as it is to be summarised.
    struct Prepared {
        SummaryInput::Written input;
        Tally all;          // of what the summary is of
        Tally before_tail;  // of what is given up where there is no summary
        std::int64_t tail_after = 0;
    };
    struct Run {
        Generation generation = 0;
        std::string said_by;
        SummarizerSettings settings;
        Prepared prepared;
        std::vector<rpc::Done<rpc::CompressResult>> waiting;
        bool has_place = false;
        bool has_ended = false;       // its session, or that generation of it
        bool is_asked_for = false;    // somebody waits for it; else it waits for the end of a turn
        bool has_turn_ended = false;  // since it was last submitted
        std::optional<Compress> ready;  // there is a summary, and a turn is on
    };

    Result<Prepared> prepare(Reader& reader, const SessionId& session_id, Generation generation,
                             std::size_t tail) const;
    /// As far as there are places.
    void start_waiting();
    void start(const SessionId& session_id);
    void note_end(const SessionId& session_id, Generation generation);
    void summarise(const SessionId& session_id, Prepared prepared);
    void finish(const SessionId& session_id, SummaryOutcome outcome);
    void record(const SessionId& session_id, Compress compress);
    /// Nobody asked for it, and a turn is on: whoever works is not to lose what it says next.
    void wait_for_turn(const SessionId& session_id, Compress compress);
    void leave_place(Run& run);
    /// An error of the session is for whoever asked; all others are a compression that failed.
    void refuse(const SessionId& session_id, Error error);
    void give_up(const SessionId& session_id, std::string why);
    /// The session is not what was to be compressed any more: says what it is.
    void answer_ended(const SessionId& session_id);
    void answer(const SessionId& session_id, const Result<rpc::CompressResult>& result);
    void follow_settings(const SummarizerSettings& settings);

    const Dependencies with_;
    std::map<SessionId, Run> runs_;
    std::deque<SessionId> queue_;  // those without a place; longest first
    std::size_t places_taken_ = 0;
    /// As many as there are runs, for those who ask on other threads.
    std::atomic<std::size_t> under_way_ = 0;
    SummarizerSettings settings_;  // that the cool-downs are of
    std::optional<CoolDowns> cool_downs_{std::in_place, SummarizerSettings{}.cool_down};
    SummaryRunner runner_;
};

}  // namespace knell
