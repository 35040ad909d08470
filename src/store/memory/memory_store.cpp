#include "store/memory/memory_store.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>

#include "base/check.hpp"

namespace knell {

namespace {

struct Tables {
    std::mutex mutex;  // guards all below
    std::map<Ordinal, Session> sessions;
    std::unordered_map<SessionId, Ordinal> by_id;
    std::map<Ordinal, std::vector<Message>> messages;
    std::vector<Event> events;                                     // events[i].seq == i + 1
    std::map<std::pair<std::int64_t, Reason>, std::int64_t> ends;  // by hour
};

std::optional<Session> find_in_tables(Tables& tables, const SessionId& id) {
    const std::lock_guard lock(tables.mutex);
    const auto found = tables.by_id.find(id);
    if (found == tables.by_id.end()) return std::nullopt;
    return tables.sessions.at(found->second);
}

bool matches(const Session& session, const SessionQuery& query) {
    if (!query.source.empty() && session.source != query.source) return false;
    if (!query.key.empty() && session.key != query.key) return false;
    if (query.ended && session.end.has_value() != *query.ended) return false;
    if (query.status && status_of(session) != *query.status) return false;
    if (query.before && session.ordinal >= *query.before) return false;
    if (query.all || !query.source.empty() || !query.key.empty()) return true;
    const bool asks_for_ended = query.ended == true || query.status == Status::ended;
    const auto fold = fold_of(session);
    return fold == Fold::shown || (fold == Fold::empty && asks_for_ended);
}

class MemoryReader final : public Reader {
  public:
    explicit MemoryReader(std::shared_ptr<Tables> tables) : tables_(std::move(tables)) {}

    Result<SessionPage> list(const SessionQuery& query) override {
        const std::lock_guard lock(tables_->mutex);
        SessionPage page;
        for (auto row = tables_->sessions.rbegin(); row != tables_->sessions.rend(); ++row) {
            if (!matches(row->second, query)) continue;
            if (page.sessions.size() == query.limit) {
                page.next = page.sessions.back().ordinal;
                break;
            }
            page.sessions.push_back(row->second);
        }
        return page;
    }

    Result<std::optional<Session>> find(const SessionId& id) override {
        return find_in_tables(*tables_, id);
    }

    Result<std::vector<Message>> messages(Ordinal session, std::size_t limit) override {
        const std::lock_guard lock(tables_->mutex);
        const auto found = tables_->messages.find(session);
        if (found == tables_->messages.end()) return std::vector<Message>{};
        const auto& all = found->second;
        return std::vector<Message>(
            all.end() - static_cast<std::ptrdiff_t>(std::min(limit, all.size())), all.end());
    }

    Result<EventPage> events(const EventQuery& query) override {
        const std::lock_guard lock(tables_->mutex);
        EventPage page;
        page.next = query.after;
        for (auto at = static_cast<std::size_t>(std::max<Seq>(query.after, 0));
             at < tables_->events.size() && page.events.size() < query.limit; ++at) {
            const auto& event = tables_->events[at];
            const bool type_wanted =
                query.types.empty() ||
                std::ranges::find(query.types, event.type) != query.types.end();
            const bool session_wanted =
                query.session_id.empty() || query.session_id == event.session_id;
            if (type_wanted && session_wanted) page.events.push_back(event);
        }
        if (!page.events.empty()) page.next = page.events.back().seq;
        return page;
    }

    Result<EndCounts> ends_since(WallTime since) override {
        const std::lock_guard lock(tables_->mutex);
        EndCounts counts;
        for (const auto& [key, ends] : tables_->ends) {
            if (key.first >= to_millis(since) / 3'600'000) counts[key.second] += ends;
        }
        return counts;
    }

    Result<std::int64_t> leaked() override { return 0; }  // an End always holds a reason

  private:
    std::shared_ptr<Tables> tables_;
};

class MemoryStore final : public Store {
  public:
    Result<void> commit(const Batch& batch) override {
        const std::lock_guard lock(tables_->mutex);
        for (const auto& change : batch.changes) {
            std::visit([this](const auto& c) { put(c); }, change);
        }
        for (const auto& event : batch.events) {
            CHECK(event.seq == static_cast<Seq>(tables_->events.size()) + 1);
            tables_->events.push_back(event);
            if (event.end) ++tables_->ends[{to_millis(event.time) / 3'600'000, event.end->reason}];
        }
        if (batch.alive_at) alive_at_ = batch.alive_at;
        return {};
    }

    Result<std::optional<Session>> find(const SessionId& id) override {
        return find_in_tables(*tables_, id);
    }

    Result<void> for_each_open(const std::function<void(const Session&)>& visit) override {
        for (const auto& [ordinal, session] : tables_->sessions) {
            if (!session.end) visit(session);
        }
        return {};
    }

    Result<Heads> heads() override {
        const auto& sessions = tables_->sessions;
        return Heads{sessions.empty() ? 0 : sessions.rbegin()->first,
                     static_cast<Seq>(tables_->events.size()), alive_at_};
    }

    Result<void> maintain() override { return {}; }
    Result<std::unique_ptr<Reader>> open_reader() override {
        return std::make_unique<MemoryReader>(tables_);
    }
    StoreFacts facts() const override { return {.kind = "memory"}; }
    const std::string& node_id() const override { return node_id_; }

  private:
    Session& row(Ordinal ordinal, Generation generation) {
        auto& session = tables_->sessions.at(ordinal);
        CHECK(session.generation == generation);
        return session;
    }

    static void clear_state(Session& session) {
        session.turn_since.reset();
        session.unknown_since.reset();
        session.stalled_since.reset();
        session.parked_since.reset();
    }

    void put(const Opened& change) {
        const auto& session = change.session;
        CHECK(tables_->by_id.emplace(session.id, session.ordinal).second);
        tables_->sessions.emplace(session.ordinal, session);
    }
    void put(const Reopened& change) {
        auto& session = row(change.ordinal, change.generation - 1);
        session.generation = change.generation;
        session.owner = change.owner;
        session.on_owner_loss = change.on_owner_loss;
        session.park_window = change.park_window;
        session.leftovers = change.leftovers;
        session.last_activity_at = session.last_seen_at = change.at;
        clear_state(session);
        session.end.reset();
    }
    void put(const Ended& change) {
        auto& session = row(change.ordinal, change.generation);
        CHECK(!session.end);
        session.end = change.end;
        clear_state(session);
    }
    void put(const Appended& change) {
        auto& session = row(change.ordinal, change.generation);
        CHECK(!session.end);
        session.tally = change.tally;
        session.last_activity_at = session.last_seen_at = change.at;
        auto& messages = tables_->messages[change.ordinal];
        CHECK(static_cast<std::int64_t>(messages.size()) + 1 == change.first_number);
        messages.insert(messages.end(), change.messages.begin(), change.messages.end());
    }
    void put(const DoubtSet& change) {
        auto& session = row(change.ordinal, change.generation);
        session.unknown_since = change.unknown_since;
        session.stalled_since = change.stalled_since;
    }
    void put(const Parked& change) {
        auto& session = row(change.ordinal, change.generation);
        session.parked_since = change.since;
        session.turn_since.reset();
        session.unknown_since.reset();
        session.stalled_since.reset();
    }
    void put(const Seen& change) {
        row(change.ordinal, change.generation).last_seen_at = change.at;
    }
    void put(const TurnSet& change) {
        auto& session = row(change.ordinal, change.generation);
        CHECK(!session.end);
        session.turn_since = change.turn_since;
        session.last_activity_at = session.last_seen_at = change.at;
    }

    // Readers may outlive a step of the writer and live on other threads.
    std::shared_ptr<Tables> tables_ = std::make_shared<Tables>();
    const std::string node_id_ = "memory";
    std::optional<WallTime> alive_at_;
};

}  // namespace

std::unique_ptr<Store> make_memory_store() {
    return std::make_unique<MemoryStore>();
}

}  // namespace knell
