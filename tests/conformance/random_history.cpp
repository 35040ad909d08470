#include "random_history.hpp"

#include <algorithm>
#include <array>

namespace knell::testing {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

SessionId id_of(Ordinal ordinal) {
    return SessionId("s" + std::to_string(ordinal));
}

}  // namespace

std::int64_t RandomHistory::below(std::int64_t bound) {
    // Not a distribution of the library: those differ from one to the next.
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
}

std::string RandomHistory::text() {
    static const std::array<std::string, 6> texts{
        "", "word", "two words", "it's \"quoted\"; --", "line\nline\ttab", "\xc3\xa9\xe2\x82\xac"};
    return texts.at(static_cast<std::size_t>(below(texts.size())));
}

std::string RandomHistory::word() {
    static const std::array<std::string, 4> words{"cli", "cron", "subagent", "web"};
    return words.at(static_cast<std::size_t>(below(words.size())));
}

WallTime RandomHistory::time() {
    return from_millis(1'800'000'000'000 + below(20'000'000));
}

std::optional<WallTime> RandomHistory::maybe_time() {
    if (one_in(2)) return std::nullopt;
    return time();
}

Owner RandomHistory::owner() {
    Owner owner;
    owner.kind = one_in(2) ? OwnerKind::lease : OwnerKind::process;
    if (owner.kind == OwnerKind::process || one_in(3)) {
        owner.process = {static_cast<std::int32_t>(1 + below(100)),
                         static_cast<std::uint64_t>(below(1000)), 7, "boot-1"};
    }
    if (one_in(4)) owner = {.kind = OwnerKind::hosted};
    if (owner.kind != OwnerKind::process || one_in(3)) owner.lease_ttl = seconds{1 + below(100)};
    owner.host = text();
    owner.since = time();
    owner.command = text();
    return owner;
}

std::vector<Leftover> RandomHistory::leftovers() {
    std::vector<Leftover> found;
    for (auto count = below(3); count > 0; --count) {
        found.push_back({.process = {static_cast<std::int32_t>(below(100)), 5, 7, "boot-1"},
                         .found_by = "cookie",
                         .command = "sleep 9",
                         .fate = static_cast<Fate>(below(fate_names.size())),
                         .process_id = one_in(2) ? ProcessId::from_bits(7) : ProcessId()});
    }
    return found;
}

std::vector<Blocker> RandomHistory::blockers() {
    std::vector<Blocker> found;
    for (auto count = 1 + below(2); count > 0; --count) {
        found.push_back(
            {.process_id = ProcessId::from_bits(static_cast<std::uint64_t>(below(9))),
             .pid = static_cast<std::int32_t>(below(100)),
             .command = text(),
             .started_at = time(),
             .activity = static_cast<ProcessActivity>(below(process_activity_names.size())),
             .vouched_until = maybe_time(),
             .until = maybe_time()});
    }
    return found;
}

End RandomHistory::an_end(Reason reason) {
    End end;
    end.reason = reason;
    end.proof = static_cast<Proof>(below(proof_names.size()));
    end.detail = text();
    end.evidence = text();
    end.ended_at = time();
    end.ended_after = end.ended_at - milliseconds{below(1000)};
    end.ended_before = end.ended_at + milliseconds{below(1000)};
    end.leftovers = leftovers();
    return end;
}

template <typename Changed>
Changed RandomHistory::on(Ordinal ordinal, const Row& row) const {
    Changed change;
    change.id = id_of(ordinal);
    change.ordinal = ordinal;
    change.generation = row.generation;
    return change;
}

Event& RandomHistory::tell(Batch& batch, EventType type, Ordinal ordinal, const Row& row) {
    Event event;
    event.seq = ++newest_;
    event.type = type;
    event.time = time();
    if (ordinal != 0) {
        event.session_id = id_of(ordinal);
        event.session_key = text();
        event.generation = row.generation;
        event.platform = text();
        event.user_id = text();
        event.source = word();
        event.parent_id = SessionId(one_in(2) ? "s1" : "");
        event.relation = static_cast<Relation>(below(relation_names.size()));
        event.title = text();
        event.cwd = text();
        event.command = text();
        event.host = text();
        event.pid = static_cast<std::int32_t>(below(100));
        event.started_at = time();
        event.tally = {below(5), below(500), below(500)};
    }
    if (type != EventType::session_end) event.detail = text();
    if (one_in(6)) event.blockers = blockers();
    if (one_in(6)) {
        event.compression =
            Compression{static_cast<CompressOutcome>(below(compress_outcome_names.size())),
                        SessionId(one_in(2) ? "s1" : ""), text()};
    }
    return batch.events.emplace_back(std::move(event));
}

void RandomHistory::open_one(Batch& batch) {
    Session session;
    session.ordinal = static_cast<Ordinal>(rows_.size()) + 1;
    session.id = id_of(session.ordinal);
    session.key = text();
    session.source = word();
    session.platform = text();
    session.user_id = text();
    session.parent_id = SessionId(one_in(2) ? "s1" : "");
    session.relation = static_cast<Relation>(below(relation_names.size()));
    session.model = text();
    session.title = text();
    session.cwd = text();
    session.meta = text();
    session.owner = owner();
    session.on_owner_loss = one_in(2) ? OnOwnerLoss::park : OnOwnerLoss::end;
    session.park_window = seconds{below(100)};
    session.leftovers = static_cast<LeftoversPolicy>(below(leftovers_policy_names.size()));
    session.started_at = time();
    session.last_activity_at = session.last_interaction_at = time();
    // Seldom: those without are written several at once.
    if (one_in(8)) {
        session.chat_type = text();
        if (one_in(2)) session.last_interaction_at = time();
        session.summary_lost = one_in(2);
        session.key_taken = one_in(2);
    }
    session.last_seen_at = time();
    if (one_in(2)) session.lease_from = listened();
    if (session.owner.kind == OwnerKind::hosted) session.detached_since = time();
    auto& row = rows_[session.ordinal];
    row.by_machine = is_by_machine(session.source, session.relation);
    row.has_title = !session.title.empty();
    tell(batch, EventType::session_start, session.ordinal, row);
    batch.changes.emplace_back(Opened{.session = std::move(session), .reaper = {}});
}

void RandomHistory::reopen(Ordinal ordinal, Row& row, Batch& batch) {
    if (row.open) {
        tell(batch, EventType::session_end, ordinal, row).end = an_end(Reason::superseded);
    }
    ++row.generation;
    row.open = true;
    row.ended.reset();
    auto change = on<Reopened>(ordinal, row);
    change.owner = owner();
    change.on_owner_loss = one_in(2) ? OnOwnerLoss::park : OnOwnerLoss::end;
    change.park_window = seconds{below(100)};
    change.leftovers = static_cast<LeftoversPolicy>(below(leftovers_policy_names.size()));
    change.fold = row.by_machine ? Fold::origin : Fold::shown;
    change.at = time();
    change.lease_from = listened();
    change.is_interaction = one_in(2);
    change.key_taken = one_in(4);
    change.title = text();
    change.cwd = text();
    row.has_title = row.has_title || !change.title.empty();
    for (auto count = below(3); count > 0; --count) {
        change.former_owners.push_back({static_cast<std::int32_t>(count), 5, 7, "boot-1"});
    }
    tell(batch, EventType::session_start, ordinal, row);
    batch.changes.emplace_back(std::move(change));
}

void RandomHistory::end(Ordinal ordinal, Row& row, Batch& batch) {
    row.open = false;
    auto change = on<Ended>(ordinal, row);
    change.end = an_end(static_cast<Reason>(below(reason_table.size())));
    row.ended = change.end.reason;
    change.fold = row.fold();
    tell(batch, EventType::session_end, ordinal, row).end = change.end;
    batch.changes.emplace_back(std::move(change));
}

void RandomHistory::append(Ordinal ordinal, Row& row, Batch& batch) {
    auto change = on<Appended>(ordinal, row);
    change.first_number = row.messages + 1;
    for (auto count = 1 + below(4); count > 0; --count) {
        change.messages.push_back({word(), text(), text(), below(1000)});
    }
    row.messages += static_cast<std::int64_t>(change.messages.size());
    change.tally = {row.messages, below(1000), below(1000)};
    change.at = time();
    change.is_interaction = one_in(2);
    batch.changes.emplace_back(std::move(change));
}

void RandomHistory::copy(Ordinal ordinal, Row& row, Batch& batch) {
    constexpr std::int64_t messages_max = 100;
    auto change = on<MessagesCopied>(ordinal, row);
    change.from = any();
    if (change.from == ordinal) return;
    const auto said = rows_.at(change.from).messages;
    change.after = below(said + 2);
    change.first_number = row.messages + 1;
    const auto copied = std::max<std::int64_t>(said - change.after, 0);
    if (row.messages + copied > messages_max) return;
    row.messages += copied;
    change.tally = {row.messages, below(1000), below(1000)};
    batch.changes.emplace_back(change);
}

void RandomHistory::hold_reset(Ordinal ordinal, const Row& row, Batch& batch) {
    auto change = on<ResetHeld>(ordinal, row);
    change.since = maybe_time();
    for (auto count = change.since ? 1 + below(3) : 0; count > 0; --count) {
        change.by.push_back(ProcessId::from_bits(static_cast<std::uint64_t>(count)));
    }
    batch.changes.emplace_back(std::move(change));
}

void RandomHistory::change_one(Batch& batch) {
    const auto ordinal = any();
    auto& row = rows_.at(ordinal);
    if (one_in(9)) {
        auto labelled = on<Labelled>(ordinal, row);
        labelled.labels = {.title = text(), .pinned = one_in(2)};
        row.has_title = !labelled.labels.title.empty();
        labelled.fold = row.fold();
        auto& event = tell(batch, EventType::session_update, ordinal, row);
        event.labels = labelled.labels;
        event.after_end = !row.open;
        batch.changes.emplace_back(std::move(labelled));
        return;
    }
    if (one_in(12)) {
        auto suspended = on<Suspended>(ordinal, row);
        suspended.at = time();
        suspended.why = text();
        batch.changes.emplace_back(std::move(suspended));
        return;
    }
    if (!row.open) {
        if (one_in(2)) return reopen(ordinal, row, batch);
        auto settled = on<LeftoversSettled>(ordinal, row);
        settled.leftovers = leftovers();
        batch.changes.emplace_back(std::move(settled));
        return;
    }
    switch (below(18)) {
        case 17:
            batch.changes.emplace_back(on<KeyTaken>(ordinal, row));
            return;
        case 12:
        case 13:
            return copy(ordinal, row, batch);
        case 14:
            return hold_reset(ordinal, row, batch);
        case 15:
        case 16: {
            auto change = on<Interacted>(ordinal, row);
            change.at = time();
            batch.changes.emplace_back(change);
            return;
        }
        case 10:
        case 11: {
            auto change = on<BackgroundSet>(ordinal, row);
            change.since = maybe_time();
            change.at = time();
            if (one_in(2)) change.lease_from = listened();
            batch.changes.emplace_back(change);
            return;
        }
        case 8:
        case 9: {
            auto change = on<AttachmentSet>(ordinal, row);
            change.attached = static_cast<std::int32_t>(below(3));
            if (change.attached == 0) change.detached_since = maybe_time();
            change.told = one_in(2);
            if (one_in(2)) change.lease_from = listened();
            batch.changes.emplace_back(change);
            return;
        }
        case 0:
            return reopen(ordinal, row, batch);
        case 1:
            return end(ordinal, row, batch);
        case 2:
        case 3:
            return append(ordinal, row, batch);
        case 4: {
            auto change = on<TurnSet>(ordinal, row);
            change.turn_since = maybe_time();
            change.at = time();
            change.is_interaction = one_in(2);
            if (one_in(2)) change.lease_from = listened();
            batch.changes.emplace_back(change);
            tell(batch, EventType::agent_start, ordinal, row);
            return;
        }
        case 5: {
            auto change = on<LivenessMarked>(ordinal, row);
            change.unknown_since = maybe_time();
            change.stalled_since = maybe_time();
            batch.changes.emplace_back(change);
            tell(batch, EventType::session_unknown, ordinal, row);
            return;
        }
        case 6: {
            auto change = on<Parked>(ordinal, row);
            change.since = time();
            change.before = time();
            if (one_in(2)) change.why = "signaled, signal 9 (SIGKILL): seen\tby 'us'";
            change.lease_from = listened();
            batch.changes.emplace_back(change);
            return;
        }
        default: {
            auto change = on<Seen>(ordinal, row);
            change.at = time();
            if (one_in(2)) change.lease_from = listened();
            batch.changes.emplace_back(change);
        }
    }
}

void RandomHistory::change_delivery(Batch& batch) {
    const auto name = one_in(2) ? "hook:a" : "webhook:b";
    const auto seq = 1 + below(newest_ + 1);
    switch (below(6)) {
        case 0:
        case 1: {
            Subscription subscription;
            subscription.name = name;
            subscription.cursor = seq;
            subscription.state = static_cast<SubscriberState>(below(subscriber_state_names.size()));
            subscription.since = time();
            subscription.delivered = below(100);
            subscription.failures = below(100);
            subscription.lost = below(100);
            subscription.last_delivery_at = maybe_time();
            subscription.last_failure_at = maybe_time();
            subscription.last_error = text();
            batch.deliveries.emplace_back(SubscriptionSaved{std::move(subscription)});
            return;
        }
        case 2:
            if (one_in(3)) batch.deliveries.emplace_back(SubscriptionForgotten{name});
            return;
        case 3:
            batch.deliveries.emplace_back(PendingDropped{name, seq});
            return;
        default: {
            PendingDelivery letter;
            letter.subscriber = name;
            // What is sent follows from the number: a letter is kept as it was.
            letter.rendered = {seq, "id-" + std::to_string(seq), "notice", "then", "", "{}"};
            if (seq % 2 == 0) letter.rendered.session_id = "s1";
            letter.state = static_cast<PendingState>(below(letter_state_names.size()));
            letter.attempts = static_cast<int>(below(10));
            letter.waited = milliseconds{below(100'000)};
            letter.next_try_at = time();
            letter.last_error = text();
            batch.deliveries.emplace_back(PendingSaved{std::move(letter)});
        }
    }
}

Batch RandomHistory::next() {
    Batch batch;
    for (auto count = below(one_in(4) ? 20 : 3); count > 0; --count) open_one(batch);
    if (!rows_.empty()) {
        for (auto count = below(12); count > 0; --count) change_one(batch);
        change_processes(batch);
    }
    for (auto count = below(3); count > 0; --count) tell(batch, EventType::notice, 0, {});
    for (auto count = below(4); count > 0; --count) change_delivery(batch);
    if (one_in(2)) batch.last_word = LastWord{time(), one_in(2) ? "boot-1" : "", listened()};
    if (one_in(2)) batch.listened = listened();
    if (one_in(4)) {
        began_ += below(50);
        batch.life = {.began = SteadyTime{milliseconds{began_}},
                      .forget_until = SteadyTime{milliseconds{began_ - 100}}};
    }
    return batch;
}

Batch RandomHistory::impossible() {
    auto aside = *this;
    random_.discard(1);  // the next batch is another one, or this would be it with a flaw
    auto batch = aside.next();
    if (aside.rows_.empty()) aside.open_one(batch);
    if (aside.one_in(3)) {
        if (aside.processes_.empty()) aside.open_process(batch);
        aside.spoil_processes(batch);
        return batch;
    }
    const auto ordinal = aside.any();
    auto row = aside.rows_.at(ordinal);
    switch (aside.below(5)) {
        case 0:
            ++row.generation;
            break;  // of a generation that is to come
        case 1:
            --row.generation;
            break;  // of one that is over, or never was
        case 2:
            row.open = !row.open;
            break;  // ended and open mistaken for each other
        case 3:
            aside.tell(batch, EventType::notice, 0, {}).seq += 1 + aside.below(3);
            return batch;
        default:
            aside.rows_.clear();
            aside.open_one(batch);  // a place that is taken
            return batch;
    }
    if (row.open) {
        aside.append(ordinal, row, batch);
    } else {
        auto settled = aside.on<LeftoversSettled>(ordinal, row);
        settled.leftovers = aside.leftovers();
        batch.changes.emplace_back(std::move(settled));
    }
    return batch;
}

RandomHistory::Age RandomHistory::next_age() {
    age_ += below(1000);
    Age age{{milliseconds{age_}, one_in(2) ? "boot-1" : "boot-2", listened()}, {}, 0};
    if (newest_ > 0 && one_in(2)) age.mark = LogMark{newest_, milliseconds{age_}};
    if (one_in(3)) age.forget_until = somewhere_in_the_log();
    return age;
}

SessionQuery RandomHistory::session_query() {
    SessionQuery query;
    if (one_in(4)) query.source = word();
    if (one_in(4)) query.key = text();
    if (one_in(2)) query.status = static_cast<Status>(below(status_names.size()));
    if (one_in(3)) query.ended = one_in(2);
    query.all = one_in(2);
    query.limit = limit();
    if (one_in(3)) query.before = any();
    query.bytes_max = bytes();
    if (one_in(4)) {
        query.live_at = time();
        query.ended = false;
        if (one_in(2)) query.current = id_of(any());
    }
    return query;
}

EndedQuery RandomHistory::ended_query() {
    EndedQuery query{.limit = limit(), .bytes_max = bytes()};
    if (one_in(4)) query.source = word();
    if (one_in(4)) query.key = text();
    if (one_in(3)) query.cwd = text();
    if (one_in(3)) query.since = time();
    query.all = one_in(2);
    if (one_in(3)) query.before = EndPlace{time(), any()};
    return query;
}

SessionId RandomHistory::some_id() {
    const auto id = id_of(any()).text();
    return SessionId(
        id.substr(0, static_cast<std::size_t>(1 + below(static_cast<std::int64_t>(id.size())))));
}

EventQuery RandomHistory::event_query() {
    EventQuery query{.after = somewhere_in_the_log(), .limit = limit(), .bytes_max = bytes()};
    if (one_in(3)) query.types = {EventType::session_end, EventType::notice};
    if (one_in(3)) query.session_id = id_of(any());
    return query;
}

PendingQuery RandomHistory::letter_query() {
    PendingQuery query{.limit = limit(), .without_events = one_in(3)};
    if (one_in(2)) query.subscriber = "hook:a";
    if (query.subscriber.empty() && one_in(2)) query.after_subscriber = "hook:a";
    if (one_in(2)) query.state = static_cast<PendingState>(below(letter_state_names.size()));
    if (!query.subscriber.empty() || !query.after_subscriber.empty()) {
        query.after = somewhere_in_the_log();
    }
    return query;
}

MessageQuery RandomHistory::message_query() {
    MessageQuery query{.session = any(), .limit = limit(), .bytes_max = bytes()};
    if (one_in(2)) query.before = below(20);
    return query;
}

}  // namespace knell::testing
