#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>
#include <variant>

#include "base/mutex.hpp"
#include "base/time.hpp"
#include "core/ids.hpp"
#include "store/batch.hpp"

namespace knell {

/// Sessions that were written, but for mere signs of life; with when an end was told, if one was.
/// What is written of their background processes is not of the session, but for BackgroundSet.
struct ChangedSessions {
    bool is_known = false;  // if not, any of them may be different
    std::unordered_map<SessionId, std::optional<WallTime>> ended_at_of;
};

/// What the writer of a store notes for one reader, so that it need not look at everything again.
///
/// Bounded: when nobody asks for long, or very much is written, it is only known that something
/// was, and nothing is noted until somebody asks.  Any thread.
class ChangeNotes {
  public:
    static constexpr std::size_t sessions_max = 4096;

    /// Around each transaction.
    class Writing {
      public:
        explicit Writing(ChangeNotes& notes) : notes_(notes) { notes_.begin(); }
        ~Writing() { notes_.end(); }
        Writing(const Writing&) = delete;
        Writing& operator=(const Writing&) = delete;

        /// It is committed, and nobody was told of it yet.
        void committed(const Batch& batch) { notes_.note(batch); }

      private:
        ChangeNotes& notes_;
    };

    struct Taken {
        ChangedSessions changed;
        /// Something was written, or was about to be, since they were taken the last time.
        bool was_writing = false;
    };
    Taken take() {
        const auto state = state_.lock();
        Taken taken{std::exchange(state->changed, {.is_known = true, .ended_at_of = {}}),
                    std::exchange(state->was_writing, state->is_writing)};
        return taken;
    }

  private:
    struct State {
        ChangedSessions changed;
        bool was_writing = false;
        bool is_writing = false;
    };

    void begin() {
        const auto state = state_.lock();
        state->is_writing = state->was_writing = true;
    }
    void end() { state_.lock()->is_writing = false; }

    void note(const Batch& batch) {
        const auto state = state_.lock();
        auto& [is_known, ended_at_of] = state->changed;
        if (!is_known) return;
        for (const auto& change : batch.changes) {
            if (std::holds_alternative<Seen>(change)) continue;
            if (const auto* id = id_of(change)) ended_at_of.try_emplace(*id);
        }
        for (const auto& event : batch.events) {
            if (event.type == EventType::session_end) ended_at_of[event.session_id] = event.time;
        }
        if (ended_at_of.size() > sessions_max) state->changed = {};
    }

    static const SessionId* id_of(const Change& change) {
        struct Id {
            const SessionId* operator()(const Opened& opened) { return &opened.session.id; }
            const SessionId* operator()(const SessionRef& ref) { return &ref.id; }
            const SessionId* operator()(const ProcessOpened&) { return nullptr; }
            const SessionId* operator()(const ProcessRef&) { return nullptr; }
        };
        return std::visit(Id{}, change);
    }

    Guarded<State> state_;
};

}  // namespace knell
