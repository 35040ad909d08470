#include "store/memory/memory_store.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/mutex.hpp"
#include "core/limits.hpp"
#include "store/archive.hpp"
#include "store/memory/message_search.hpp"
#include "store/memory/process_rows.hpp"
#include "store/memory/staged.hpp"
#include "store/memory/tables.hpp"
#include "store/page_bytes.hpp"

namespace knell {

namespace {

const Session* session_in(const Tables& tables, const SessionId& id) {
    const auto found = tables.by_id.find(id);
    return found == tables.by_id.end() ? nullptr : &tables.sessions.at(found->second);
}

std::optional<Session> find_in(const Tables& tables, const SessionId& id) {
    const auto* found = session_in(tables, id);
    return found == nullptr ? std::nullopt : std::optional(*found);
}

/// The newest of those that `is_meant`.
std::optional<Session> newest_where(const Tables& tables,
                                    const std::function<bool(const Session&)>& is_meant) {
    for (auto row = tables.sessions.rbegin(); row != tables.sessions.rend(); ++row) {
        if (is_meant(row->second)) return row->second;
    }
    return std::nullopt;
}

std::optional<Session> newest_child_in(const Tables& tables, const SessionId& parent,
                                       Relation relation) {
    if (parent.empty()) return std::nullopt;
    return newest_where(tables, [&](const Session& session) {
        return session.parent_id == parent && session.relation == relation;
    });
}

/// Whether it would be listed if nothing were folded away.
bool is_meant(const Session& session, const SessionQuery& query) {
    if (!query.source.empty() && session.source != query.source) return false;
    if (!query.key.empty() && session.key != query.key) return false;
    if (query.ended && session.end.has_value() != *query.ended) return false;
    if (query.status && status_of(session) != *query.status) return false;
    if (query.before && session.ordinal >= *query.before) return false;
    if (query.live_at && session.id != query.current && !is_active(session, *query.live_at)) {
        return false;
    }
    return true;
}

bool is_shown(const Session& session, const SessionQuery& query) {
    if (!folds(query)) return true;
    const bool asks_for_ended = query.ended == true || query.status == Status::ended;
    const auto fold = fold_of(session);
    return fold == Fold::shown || (fold == Fold::empty && asks_for_ended);
}

EndedPage latest_ended_in(const Tables& tables, const EndedQuery& query) {
    std::map<EndPlace, const Session*> ended;
    for (const auto& [ordinal, session] : tables.sessions) {
        if (!session.end || (query.since && session.end->ended_at < *query.since)) continue;
        if (!query.wants_folded() && fold_of(session) != Fold::shown) continue;
        const EndPlace place{session.end->ended_at, ordinal};
        if (!query.before || place < *query.before) ended[place] = &session;
    }
    EndedPage page;
    std::size_t looked_at = 0;
    std::size_t bytes = 0;
    std::optional<EndPlace> last;
    for (auto row = ended.rbegin(); row != ended.rend(); ++row) {
        if (page.sessions.size() == query.limit || bytes >= query.bytes_max ||
            looked_at == ended_scan_max) {
            page.next = last;
            break;
        }
        ++looked_at;
        last = row->first;
        if (!query.wants(*row->second)) continue;
        page.sessions.push_back(*row->second);
        bytes += page_bytes(*row->second);
    }
    return page;
}

Stats stats_in(const Tables& tables, WallTime since) {
    Stats stats;
    for (const auto& [key, counts] : tables.counts) {
        const auto& [hour, source] = key;
        if (hour < hour_of(since) || counts == DayStats{}) continue;
        auto& day = stats.days[{hour / hours_a_day, source}];
        day.starts += counts.starts;
        add_up(day.input_tokens, counts.input_tokens);
        add_up(day.output_tokens, counts.output_tokens);
        for (const auto& [reason, ends] : counts.ends) day.ends[reason] += ends;
    }
    for (const auto& [ordinal, session] : tables.sessions) {
        const bool is_imported = session.end && session.end->reason == Reason::imported;
        if (!is_imported && !session.unknown_since) continue;
        const auto hour = hour_of(session.started_at);
        if (hour >= hour_of(since)) ++stats.days[{hour / hours_a_day, session.source}].leaked;
    }
    return stats;
}

constexpr auto scan_max = static_cast<Seq>(limits::events_scan_max);

class MemoryReader final : public Reader, public ArchiveReader {
  public:
    explicit MemoryReader(std::shared_ptr<Guarded<Tables>> tables) : tables_(std::move(tables)) {}

    Result<SessionPage> list(const SessionQuery& query) override {
        const auto tables = tables_->lock();
        SessionPage page;
        std::size_t bytes = 0;
        for (auto row = tables->sessions.rbegin(); row != tables->sessions.rend(); ++row) {
            if (!is_meant(row->second, query) || !is_shown(row->second, query)) continue;
            if (page.sessions.size() == query.limit || bytes >= query.bytes_max) {
                page.next = page.sessions.back().ordinal;
                break;
            }
            page.sessions.push_back(row->second);
            bytes += page_bytes(row->second);
        }
        return page;
    }

    Result<EndedPage> latest_ended(const EndedQuery& query) override {
        return latest_ended_in(*tables_->lock(), query);
    }

    Result<std::optional<Session>> find(const SessionId& id) override {
        return find_in(*tables_->lock(), id);
    }

    Result<std::vector<Session>> find_beginning(const SessionId& prefix,
                                                std::size_t limit) override {
        const auto tables = tables_->lock();
        std::map<SessionId, const Session*> found;
        for (const auto& [ordinal, session] : tables->sessions) {
            if (session.id.text().starts_with(prefix.text())) found[session.id] = &session;
        }
        std::vector<Session> first;
        for (const auto& [id, session] : found) {
            if (first.size() == limit) break;
            first.push_back(*session);
        }
        return first;
    }

    Result<IdNeighbours> neighbours(const SessionId& id) override {
        const auto tables = tables_->lock();
        IdNeighbours found;
        for (const auto& [other, ordinal] : tables->by_id) {
            if (other < id && other > found.before) found.before = other;
            if (other > id && (found.after.empty() || other < found.after)) found.after = other;
        }
        return found;
    }

    Result<std::optional<Session>> newest_child(const SessionId& parent,
                                                Relation relation) override {
        return newest_child_in(*tables_->lock(), parent, relation);
    }

    Result<MessagePage> messages(const MessageQuery& query) override {
        const auto tables = tables_->lock();
        MessagePage page;
        const auto found = tables->messages.find(query.session);
        if (found == tables->messages.end()) return page;
        const auto& all = found->second;
        auto number = static_cast<std::int64_t>(all.size());
        if (query.before) number = std::clamp<std::int64_t>(*query.before - 1, 0, number);
        for (std::size_t bytes = 0; number > 0; --number) {
            if (page.messages.size() == query.limit || bytes >= query.bytes_max) {
                page.next = number + 1;
                break;
            }
            page.messages.push_back(all.at(static_cast<std::size_t>(number - 1)).message);
            bytes += page_bytes(page.messages.back());
        }
        std::ranges::reverse(page.messages);
        return page;
    }

    Result<SearchPage> search(const SearchQuery& query) override {
        return search_messages(*tables_->lock(), query);
    }

    Result<ProcessPage> processes(const ProcessQuery& query) override {
        const auto tables = tables_->lock();
        return tables->processes.list(query,
                                      [&](const SessionId& id) { return session_in(*tables, id); });
    }

    Result<std::optional<ProcessOnRecord>> process(const ProcessId& id) override {
        const auto tables = tables_->lock();
        const auto* found = tables->processes.find(id);
        if (found == nullptr) return std::nullopt;
        return ProcessOnRecord{*found, standing_of(session_in(*tables, found->session_id))};
    }

    Result<EventPage> events(const EventQuery& query) override {
        const auto tables = tables_->lock();
        const auto& log = tables->events;
        const auto newest = log.empty() ? 0 : log.back().seq;
        const auto first = log.empty() ? 1 : log.front().seq;
        EventPage page{.events = {}, .next = query.after, .newest = newest, .gap = {}};
        const auto after = std::max(query.after, first - 1);
        if (after > query.after) page.gap = Gap{query.after + 1, after};
        if (after >= newest) return page;
        const auto last = query.types.empty() || !query.session_id.empty()
                              ? newest
                              : std::min(newest, after + scan_max);
        std::size_t bytes = 0;
        for (auto seq = after;
             seq < last && page.events.size() < query.limit && bytes < query.bytes_max;) {
            const auto& event = log[static_cast<std::size_t>(++seq - first)];
            page.next = seq;
            if (!query.wants(event)) continue;
            page.events.push_back(event);
            bytes += page_bytes(event);
        }
        return page;
    }

    Result<std::vector<EndedLately>> ended_lately(WallTime since, std::size_t limit) override {
        const auto tables = tables_->lock();
        std::vector<EndedLately> found;
        std::size_t looked_at = 0;
        for (auto event = tables->events.rbegin(); event != tables->events.rend(); ++event) {
            if (event->time < since || ++looked_at > limits::space_events_scan_max) break;
            if (event->type != EventType::session_end) continue;
            if (found.size() == limit) break;
            auto session = find_in(*tables, event->session_id);
            if (!session || !session->end || session->generation != event->generation) continue;
            found.push_back({std::move(*session), event->time});
        }
        return found;
    }

    Result<std::int64_t> data_version() override { return tables_->lock()->version; }

    Result<void> at_one_moment(const std::function<Result<void>()>& read) override {
        auto copy = std::make_shared<Guarded<Tables>>();
        *copy->lock() = *tables_->lock();
        const auto shared = std::exchange(tables_, std::move(copy));
        auto done = read();
        tables_ = shared;
        return done;
    }

    Result<EndCounts> ends_since(WallTime since) override {
        const auto tables = tables_->lock();
        EndCounts counts;
        for (const auto& [key, ends] : tables->ends) {
            const auto& [hour, reason, proof] = key;
            if (hour >= hour_of(since)) counts[{reason, proof}] += ends;
        }
        return counts;
    }

    Result<std::int64_t> count_folded(const SessionQuery& query, std::int64_t most) override {
        const auto tables = tables_->lock();
        const auto count = std::ranges::count_if(tables->sessions, [&](const auto& row) {
            return is_meant(row.second, query) && !is_shown(row.second, query);
        });
        return std::min<std::int64_t>(count, most);
    }

    Result<Stats> stats(WallTime since) override { return stats_in(*tables_->lock(), since); }

    Result<std::int64_t> leaked() override { return 0; }  // an End always holds a reason

    Result<std::vector<Subscription>> subscriptions() override {
        const auto tables = tables_->lock();
        std::vector<Subscription> found;
        for (const auto& [name, subscription] : tables->subscriptions) {
            found.push_back(subscription);
        }
        return found;
    }

    Result<std::vector<PendingDelivery>> letters(const PendingQuery& query) override {
        const auto tables = tables_->lock();
        std::vector<PendingDelivery> found;
        for (const auto& [key, letter] : tables->letters) {
            if (found.size() == query.limit) break;
            if (!query.subscriber.empty() && letter.subscriber != query.subscriber) continue;
            if (query.state && letter.state != *query.state) continue;
            const bool is_behind = query.after_subscriber.empty()
                                       ? letter.rendered.seq > query.after
                                       : key > std::pair(query.after_subscriber, query.after);
            if (!is_behind) continue;
            found.push_back(letter);
            if (query.without_events) found.back().rendered.json = {};
        }
        return found;
    }

  private:
    std::shared_ptr<Guarded<Tables>> tables_;
};

class MemoryStore final : public Store, public ArchiveStore {
  public:
    Result<void> commit(const Batch& batch) override {
        const auto tables = tables_->lock();
        Staged staged(*tables);
        for (const auto& change : batch.changes) {
            if (auto fit = staged.add(change); !fit) return fit;
        }
        for (const auto& event : batch.events) {
            if (auto fit = staged.add(event); !fit) return fit;
        }
        staged.write_to(*tables);
        ++tables->version;
        for (const auto& change : batch.deliveries) {
            std::visit([&](const auto& c) { put(c, *tables); }, change);
        }
        if (batch.last_word) last_word_ = batch.last_word;
        if (batch.listened) listened_ = *batch.listened;
        if (batch.life) {
            std::erase_if(lives_,
                          [&](SteadyTime began) { return began <= batch.life->forget_until; });
            if (lives_.empty() || lives_.back() != batch.life->began) {
                lives_.push_back(batch.life->began);
            }
        }
        return {};
    }

    Result<std::optional<Session>> find(const SessionId& id) override {
        return find_in(*tables_->lock(), id);
    }

    Result<std::optional<Session>> newest_of_key(const std::string& key) override {
        if (key.empty()) return std::nullopt;  // it means that there is none
        return newest_where(*tables_->lock(), [&](const Session& session) {
            return session.key == key && !session.key_taken;
        });
    }

    Result<std::optional<Session>> newest_child(const SessionId& parent,
                                                Relation relation) override {
        return newest_child_in(*tables_->lock(), parent, relation);
    }

    Result<void> for_each_open(const std::function<void(const Session&)>& visit) override {
        visit_all([](const Session& session) { return !session.end; }, visit);
        return {};
    }

    Result<void> for_each_unsettled(const std::function<void(const Session&)>& visit) override {
        visit_all(
            [](const Session& session) {
                return session.end && has_unsettled(session.end->leftovers);
            },
            visit);
        return {};
    }

    Result<void> for_each_running_process(
        const std::function<void(const BackgroundProcess&)>& visit) override {
        const auto running = tables_->lock()->processes.running();
        for (const auto& process : running) visit(process);
        return {};
    }

    Result<Heads> heads() override {
        const auto tables = tables_->lock();
        const auto& sessions = tables->sessions;
        return Heads{sessions.empty() ? 0 : sessions.rbegin()->first,
                     tables->processes.newest(),
                     newest_in(*tables),
                     tables->events.empty() ? 0 : tables->events.front().seq,
                     last_word_,
                     listened_,
                     lives_,
                     log_age_,
                     log_marks_};
    }

    Result<Seq> trim_events(Seq last, std::size_t rows_max) override {
        const auto tables = tables_->lock();
        auto& log = tables->events;
        for (std::size_t row = 0; row < rows_max && log.size() > 1; ++row) {
            if (log.front().seq > last) break;
            tables->places.erase(place_in_log(log.front()));
            log.pop_front();
        }
        return log.empty() ? 0 : log.front().seq;
    }

    Result<void> save_log_age(const LogAge& age, std::optional<LogMark> mark,
                              Seq forget_until) override {
        log_age_ = age;
        std::erase_if(log_marks_, [&](const LogMark& old) {
            return old.seq <= forget_until || (mark && old.seq == mark->seq);
        });
        if (mark && mark->seq > forget_until) log_marks_.push_back(*mark);
        return {};
    }

    Result<bool> index_messages(std::size_t, std::size_t) override { return false; }
    Result<void> maintain() override { return {}; }
    Result<std::unique_ptr<Reader>> open_reader() override {
        return std::make_unique<MemoryReader>(tables_);
    }
    StoreFacts facts() const override { return {.kind = "memory"}; }
    const std::string& node_id() const override { return node_id_; }

  private:
    /// Those who visit may ask this store for more.
    void visit_all(bool (*is_meant)(const Session&),
                   const std::function<void(const Session&)>& visit) {
        std::vector<Session> meant;
        {
            const auto tables = tables_->lock();
            for (const auto& [ordinal, session] : tables->sessions) {
                if (is_meant(session)) meant.push_back(session);
            }
        }
        for (const auto& session : meant) visit(session);
    }

    static void put(const SubscriptionSaved& change, Tables& tables) {
        tables.subscriptions[change.subscription.name] = change.subscription;
    }
    static void put(const SubscriptionForgotten& change, Tables& tables) {
        tables.subscriptions.erase(change.name);
        std::erase_if(tables.letters,
                      [&](const auto& letter) { return letter.first.first == change.name; });
    }
    static void put(const PendingSaved& change, Tables& tables) {
        const auto& letter = change.letter;
        tables.letters[{letter.subscriber, letter.rendered.seq}] = letter;
    }
    static void put(const PendingDropped& change, Tables& tables) {
        tables.letters.erase({change.subscriber, change.seq});
    }

    // Readers may outlive a step of the writer and live on other threads.
    std::shared_ptr<Guarded<Tables>> tables_ = std::make_shared<Guarded<Tables>>();
    const std::string node_id_ = "memory";
    std::optional<LastWord> last_word_;
    SteadyTime listened_{};
    std::vector<SteadyTime> lives_;
    std::optional<LogAge> log_age_;
    std::vector<LogMark> log_marks_;
};

}  // namespace

std::unique_ptr<Store> make_memory_store() {
    return std::make_unique<MemoryStore>();
}

}  // namespace knell
