#include "world.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/limits.hpp"

namespace knell::sim {

namespace {

using namespace std::chrono_literals;

/// One in so many runs has a disk that can be broken; the others are faster.
bool is_on_disk(std::uint64_t seed) {
    return seed % 3 != 0;
}

/// In half of the runs the writer takes little at a time, so that calls queue up behind the disk.
std::size_t group_max(std::uint64_t seed) {
    return seed % 2 == 0 ? 3 : limits::batch_commands_max;
}

/// What the daemon asks of itself once it has forked a child: nobody else asks again.
bool is_start(const Input& input) {
    const auto* record = as<RecordProcess>(input);
    return record != nullptr && record->draft.origin == ProcessOrigin::started;
}

constexpr auto look_period = 400ms;
constexpr int rounds_max = 20;

}  // namespace

World::World(std::uint64_t seed)
    : seed_(seed),
      node_(
          host_, is_on_disk(seed), group_max(seed),
          [this] {
              // A start decides several times, each as of its own look.
              if (is_starting_) start_decided_at_.push_back(host_.elapsed());
              ledger_.listen(host_.readings().awake);
          },
          [this] { hear(); },
          {.signal = [this](const ProcessIdentity& process,
                            int number) { signal_process(process, number); },
           .execute = [this](Host::Process& process) { execute(process); }}),
      delivery_(host_, ledger_, node_,
                {.hear =
                     [this](const std::string& name, const Hearing& hearing,
                            const RenderedEvent& rendered) {
                         say(fmt::format("  {} hears {} {}", name, rendered.seq, rendered.type));
                         auto seen = scene();
                         seen.hearing = &hearing;
                         seen.rendered = &rendered;
                         check(Moment::hearing, seen);
                     },
                 .saved =
                     [this](const std::string& name, const Hearing& hearing, const Place& place) {
                         say(place.has_row ? fmt::format("  {} is at {} on record, {} letters",
                                                         name, place.cursor, place.letters.size())
                                           : fmt::format("  {} is not on record", name));
                         auto seen = scene();
                         seen.subscriber = name;
                         seen.hearing = &hearing;
                         seen.place = &place;
                         check(Moment::saved, seen);
                     },
                 .refused =
                     [this](const Hearing& hearing, const Place& place) {
                         auto seen = scene();
                         seen.hearing = &hearing;
                         seen.place = &place;
                         check(Moment::refused, seen);
                     },
                 .happened = [this](HookHappening happening,
                                    HookState before) { coverage_.count(happening, before); }}),
      followers_(host_, ledger_, node_,
                 [this](std::size_t who, const Following& following, const FeedLine& line) {
                     say(fmt::format("  follower {} is sent {}", who,
                                     line.gap ? "a gap" : std::to_string(line.seq())));
                     auto seen = scene();
                     seen.following = &following;
                     seen.feed_line = &line;
                     check(Moment::feeding, seen);
                 }) {
    testing::FaultyDisk::seed_sqlite(static_cast<std::uint32_t>(seed));
    if (seed % 2 == 0) node_.compress_at(25);
    if (seed % 4 != 0) {
        const auto mixed = static_cast<std::uint32_t>(seed * 0x9e3779b97f4a7c15U >> 32U);
        change_policies({Kind::change_policies, mixed, mixed / 3, mixed / 7});
    }
    start_daemon();
}

// --- starting and ending ------------------------------------------------------------------------

void World::start_daemon() {
    if (node_.is_up() || broken_) return;
    const auto before_states = states();
    const bool disk_was_bad = node_.is_disk_bad();
    ledger_.note_start(host_.elapsed());
    is_starting_ = true;
    start_decided_at_.clear();
    node_.follow_policies(policies_);
    ledger_.conversations.follow(policies_);
    auto recovered = node_.start(spool_);
    is_starting_ = false;
    std::ranges::copy(start_decided_at_, std::back_inserter(decided_at_));
    if (lose_power_if_due()) return;
    if (!recovered) {
        say("the daemon does not start: " + recovered.error().message);
        if (!disk_was_bad)
            broken_ = Broken{"a good disk refuses nothing", recovered.error().message};
        return crash_daemon();
    }
    say("the daemon starts");
    check_old_events();
    for (const auto& event : take_in_start()) {
        count_told(event, before_states);
        count_process_told(event, last_process_states_);
    }
    for (const auto& [id, known] : ledger_.sessions()) {
        if (const auto row = node_.reader().find(SessionId(id)); row && *row) {
            ledger_.conversations.learn(**row);
        }
    }
    check(Moment::start, scene());
    check_taken_in(spool_.take_delivered_at_start());
    for (const auto& process : host_.processes()) {
        if (!process.alive) continue;
        const bool is_inside = process.identity.pid_namespace != host_.own_pid_namespace();
        const bool clear =
            process.readable && host_.can_read && (!is_inside || host_.can_see_inside);
        count_owner(clear ? Happening::owner_alive : Happening::owner_unknown, process.identity,
                    before_states);
    }
    count_adopted(last_process_states_);
    for (auto& effect : recovered->effects) node_.carry_out(std::move(effect));
    check(Moment::watching, scene());
    delivery_.start();
    followers_.start();
    node_.listen();
    spool_.look();
    spool_looked_at_ = host_.elapsed();
    ledger_.begin_listening(host_.readings().awake);
    is_listening_ = true;
}

void World::fall_silent(bool flushed) {
    is_listening_ = false;
    arrived_.clear();
    compressing_.clear();
    ledger_.forget_arrivals(flushed);
    followers_.crash();
    clients_.crash();
    std::erase_if(requests_, [this](const Request& request) {
        return is_cut(request.input) || is_start(request.input);
    });
    dies_after_.reset();
    spool_.crash();
}

void World::crash_daemon() {
    fall_silent(/*flushed=*/false);
    ledger_.note_death(node_.self());
    node_.kill();
    delivery_.crash();
}

void World::cut_power(std::uint64_t seed) {
    fall_silent(/*flushed=*/false);
    spool_.lose_power(seed);
    ledger_.note_death(node_.self());
    node_.cut_power(seed);
    delivery_.crash();
}

bool World::lose_power_if_due() {
    if (!node_.is_power_gone()) return false;
    say("the power is gone, in the middle of a write");
    cut_power(seed_ + ledger_.log().size());
    return true;
}

void World::stop_daemon() {
    if (!node_.is_up()) return;
    std::vector<Spoken> words;
    words.push_back(
        heard_now(OwnerGone{.process = node_.self(),
                            .departure = {.kind = Departure::Kind::stopped,
                                          .number = 0,
                                          .evidence = "the daemon was stopped on request"},
                            .found = {},
                            .searched = true},
                  /*observed=*/true));
    words.push_back(heard_now(Announce{EventType::gateway_shutdown, "stopped"}, /*observed=*/true));
    // It goes in a moment: what it hosted is as good as gone.
    ledger_.note_death(node_.self());
    if (auto* self = host_.find(node_.self())) {
        host_.end(*self, {.kind = Departure::Kind::stopped}, /*is_waited_for=*/true);
    }
    decide(std::move(words));
    if (!node_.is_up()) return;
    pump(/*save_at_once=*/true);
    if (!node_.is_up()) return;
    if (auto rest = delivery_.is_up() ? delivery_.take_rest() : std::nullopt) {
        std::vector<Spoken> last;
        last.push_back(heard_now(std::move(*rest), /*observed=*/false));
        decide(std::move(last));
        if (!node_.is_up()) return;
    }
    fall_silent(/*flushed=*/!node_.is_disk_bad());
    node_.stop();
    delivery_.crash();
}

// --- running ------------------------------------------------------------------------------------

void World::run_for(Host::Duration time) {
    while (time > 0ns && !broken_) {
        auto next = std::min<Host::Duration>(time, look_period);
        for (const auto& request : requests_) {
            next = std::min(next, std::max<Host::Duration>(request.due - host_.elapsed(), 1ms));
        }
        host_.pass(next);
        time -= next;
        pump();
    }
}

void World::hear() {
    if (!is_listening_) return;
    ledger_.count_use(!node_.is_disk_bad() && !node_.is_slow());
    ledger_.listen(host_.readings().awake);
    note_held();
    std::erase_if(requests_, [&](Request& request) {
        if (request.due > host_.elapsed()) return false;
        // Whoever registers a process is told at once that there is none.
        const auto* record = as<RecordProcess>(request.input);
        if (record != nullptr && record->draft.origin == ProcessOrigin::registered &&
            !host_.is_alive(record->draft.process)) {
            return true;
        }
        give_fresh_id(request.input);
        auto spoken = heard_now(request.input, /*observed=*/false);
        spoken.request = std::move(request);
        ledger_.note_arrival(spoken.input, spoken.at);
        clients_.ask(spoken.input);
        arrived_.push_back(std::move(spoken));
        return true;
    });
}

World::Spoken World::heard_now(Input input, bool observed) {
    ledger_.listen(host_.readings().awake);
    return {std::move(input), observed, std::nullopt, host_.readings(), ledger_.listened(),
            host_.elapsed(),  {}};
}

void World::pump(bool save_at_once) {
    for (int round = 0; round < rounds_max && node_.is_up() && !broken_; ++round) {
        const auto began_at = host_.elapsed();
        node_.look();
        hear();
        auto spoken = std::exchange(arrived_, {});
        for (auto& word : node_.take_words()) {
            spoken.push_back(heard_now(std::move(word), /*observed=*/true));
        }
        if (delivery_.is_up()) {
            if (auto save = delivery_.take_save(save_at_once)) {
                spoken.push_back(heard_now(std::move(*save), /*observed=*/false));
            }
        }
        std::ranges::move(take_from_spool(), std::back_inserter(spoken));
        const bool idle = spoken.empty();
        decide(std::move(spoken));
        if (!node_.is_up() || broken_) return;
        if (delivery_.is_up()) delivery_.step();
        followers_.step();
        trim();
        (void)node_.write_step().index_messages();
        if (arrived_.empty() && !node_.write_step().has_unheard()) clients_.note_all_heard();
        if (!idle) (void)node_.store().maintain();
        if (lose_power_if_due()) return;
        if (idle && arrived_.empty() && node_.write_step().max_wait() != 0ms) {
            // A slow disk takes its time, and what falls due meanwhile is decided next.
            const bool is_calm = !node_.write_step().is_failing() && host_.elapsed() == began_at;
            if (is_calm) check(Moment::calm, scene());
            return;
        }
    }
}

std::vector<Result<Reply>> World::decide(std::vector<Spoken> spoken) {
    std::vector<WriteStep::Submission> words;
    for (const auto& one : spoken) words.push_back({one.input, one.observed, one.arrived});
    ledger_.listen(host_.readings().awake);
    const auto taken_at = ledger_.listened();
    node_.write_step().take(std::move(words), host_.readings());
    std::vector<Result<Reply>> replies;
    do {
        if (!step(spoken, replies.size(), taken_at, replies)) return {};
    } while (node_.write_step().has_submissions() && !broken_);
    return replies;
}

bool World::step(std::vector<Spoken>& spoken, std::size_t first, Host::Duration taken_at,
                 std::vector<Result<Reply>>& replies) {
    const auto before_states = states();
    last_process_states_ = process_states();
    StepFacts facts;
    facts.disk_was_bad = node_.is_disk_bad();
    const auto commits = node_.write_step().counts().commits;
    decided_at_.push_back(host_.elapsed());
    ledger_.note_decision(host_.readings().awake, host_.elapsed());
    auto step = node_.write_step().step();
    if (lose_power_if_due()) return false;
    facts.failed = step.failed;
    const auto last = first + step.replies.size();
    for (auto i = first; i < last; ++i) {
        facts.said.push_back(
            {spoken[i].input, step.replies[i - first], spoken[i].heard, spoken[i].at});
    }
    facts.heard_until = last < spoken.size() ? spoken[last].heard : taken_at;
    const bool quiet = facts.said.empty() && !facts.failed &&
                       node_.write_step().counts().commits == commits && step.effects.empty();
    facts.decided_at = {decided_at_.back()};
    // What the disk refused may yet be there when the next daemon reads, until it takes another.
    if (node_.write_step().counts().commits != commits) {
        decided_at_.clear();
    } else if (!step.failed) {
        decided_at_.pop_back();
    }
    if (quiet) return true;
    facts.told = read_new_events();
    take_in(facts, Moment::settled);
    count(facts, before_states);
    count_processes(facts, last_process_states_);
    std::vector<ReleaseClients> ended;
    for (auto& effect : step.effects) {
        if (dies_after_ && (*dies_after_)-- == 0) {
            say("the daemon is killed, with a part of what follows from its commit undone");
            crash_daemon();
            return false;
        }
        if (const auto* release = std::get_if<ReleaseClients>(&effect)) ended.push_back(*release);
        if (const auto* start = std::get_if<StartCompression>(&effect)) {
            begin_compression(start->session_id, start->generation);
        }
        node_.carry_out(std::move(effect));
    }
    check(Moment::watching, scene(facts));
    followers_.publish(step.events);
    for (const auto& said : facts.said) {
        if (std::holds_alternative<SaveDeliveries>(said.input) && delivery_.is_up()) {
            delivery_.finish_save(said.reply.has_value());
        }
    }
    for (auto i = first; i < last; ++i) {
        const auto& reply = replies.emplace_back(std::move(step.replies[i - first]));
        if (spoken[i].request) answer(std::move(*spoken[i].request), reply);
        clients_.answer(spoken[i].input, reply);
        if (!spoken[i].from_spool.empty()) spool_.take_answer(spoken[i].from_spool, reply);
    }
    for (const auto& release : ended) clients_.release(release);
    return true;
}

/// At least once: who got no answer, or was told that the disk is bad, asks again.
void World::answer(Request&& request, const Result<Reply>& reply) {
    say(fmt::format("  {} -> {}", request.tries_left, reply ? "ok" : reply.error().message));
    if (is_start(request.input) && !reply) {
        node_.background().close_gate(as<RecordProcess>(request.input)->draft.id);
    }
    const bool refused = !reply && reply.error().code == ErrorCode::storage;
    if (!request.reply_lost && !refused) return;
    if (--request.tries_left <= 0 || is_cut(request.input)) return;
    request.due = host_.elapsed() + 2s;
    request.reply_lost = false;
    requests_.push_back(std::move(request));
}

// --- the end ------------------------------------------------------------------------------------

void World::heal() {
    if (broken_) return;
    say("everything is made well");
    requests_.clear();
    dies_after_.reset();
    node_.heal_disk();
    retention_ = {};
    for (auto& process : host_.processes()) process.readable = true;
    host_.descriptors = SIZE_MAX;
    host_.can_read = true;
    host_.can_see_inside = true;
    start_daemon();
    if (broken_ || !node_.is_up()) return;
    for (std::size_t i = 0; i < delivery_.size(); ++i) {
        delivery_.set_mood(i, Mood::good);
        delivery_.set_present(i, true);
    }
    followers_.slow_down(0ns, 0ns);
    for (std::size_t i = 0; i < Followers::count; ++i) {
        followers_.set_stuck(i, false);
        followers_.reconnect(i);
    }
    send_clients_away();
    settle_background();
    run_for(40s);  // one that could not be told is looked for again within half a minute
    if (broken_ || !node_.is_up()) return;
    check(Moment::rested, scene());
    // Not before: an attempt that was under way may have said "never again".
    for (std::size_t i = 0; i < delivery_.size(); ++i) delivery_.resume(i);
    sweep();
    // Two lease times, because a crowd may be held once, and a park window after that.
    for (int i = 0; i < 5; ++i) {
        run_for(25s);
        if (i == 1) sweep();
    }
    for (std::size_t i = 0; i < delivery_.size() && !broken_; ++i) delivery_.retry(i);
    for (int i = 0; i < 6 && !broken_; ++i) {
        host_.suspend(25h);
        run_for(1s);
    }
    // Of a vouch that ran out while the host slept: its session has its window from then on.
    const auto is_hosted = [this](const auto& session) {
        const auto& [id, known] = session;
        return known.open &&
               ledger_.life(SessionId(id), known.generation)->owner.kind == OwnerKind::hosted;
    };
    if (std::ranges::any_of(ledger_.sessions(), is_hosted)) run_for(1min);
    if (broken_ || !node_.is_up()) return;
    check(Moment::healed, scene());
    say(broken_ ? "and something is broken" : "and everything is in order");
}

// --- seeing -------------------------------------------------------------------------------------

Scene World::scene(const StepFacts& facts) {
    Scene scene{.host = host_, .ledger = ledger_, .step = facts};
    scene.spool = &spool_;
    scene.clients = &clients_;
    if (delivery_.is_up()) scene.scheduler = &delivery_.scheduler();
    if (!node_.is_up()) return scene;
    scene.state = &node_.write_step().state();
    scene.watching = &node_.watching();
    scene.watching_background = &node_.background().watching();
    scene.max_wait = node_.write_step().max_wait();
    scene.words_on_their_way = node_.has_submissions() || node_.write_step().has_submissions() ||
                               node_.write_step().has_unheard();
    scene.reader = &node_.reader();
    scene.node_id = node_.store().node_id();
    scene.first_kept = node_.write_step().first_seq();
    return scene;
}

void World::check(Moment moment, const Scene& scene) {
    if (broken_) return;
    broken_ = find_broken(moment, scene);
}

void World::say(std::string line) {
    if (trace_ == nullptr) return;
    trace_->push_back(
        fmt::format("{:>9.3f} s  {}", static_cast<double>(host_.elapsed() / 1ms) / 1000, line));
}

std::uint64_t World::digest() const {
    std::uint64_t hash = 0xcbf29ce484222325U;
    const auto mix = [&hash](std::string_view text) {
        for (const auto c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    };
    for (const auto& event : ledger_.log()) {
        mix(fmt::format("{} {} {} {}", event.seq, to_millis(event.time), event.session_id.text(),
                        event.end ? event.end->evidence : event.detail));
    }
    for (const auto& [name, hearing] : ledger_.hearings) {
        for (const auto& [seq, given] : hearing.deliveries) mix(fmt::format("{} {}", name, seq));
    }
    return hash;
}

}  // namespace knell::sim
