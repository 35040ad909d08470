// About the log and what is acknowledged.

#include <optional>

#include <fmt/format.h>

#include "promises.hpp"
#include "testing/record_check.hpp"

namespace knell::sim {

std::string wrong_number(const Scene& scene) {
    auto next = scene.ledger.head();
    for (const auto& event : scene.step.told) {
        if (event.seq != ++next) return fmt::format("event {} where {} was due", event.seq, next);
    }
    return {};
}

std::string second_start_or_end(const Scene& scene) {
    std::map<std::pair<std::string, Generation>, bool> open;  // as the step goes on
    for (const auto& event : scene.step.told) {
        if (event.session_id.empty()) continue;
        const std::pair key{event.session_id.text(), event.generation};
        const auto who = fmt::format("session {} generation {}", key.first, key.second);
        const auto* life = scene.ledger.life(event.session_id, event.generation);
        const bool started = open.contains(key) || life != nullptr;
        const bool is_open = open.contains(key) ? open.at(key) : life != nullptr && life->open;
        if (event.type == EventType::session_start) {
            if (started) return who + " starts twice";
            open[key] = true;
            continue;
        }
        // What a person writes on it is told after its end, too, and so are its processes.
        if (event.type == EventType::session_update && started) continue;
        if (event.process && started) continue;
        if (!is_open) {
            return fmt::format("{}: {} while it is not open", who,
                               name_in(event_type_names, event.type));
        }
        if (event.type == EventType::session_end) open[key] = false;
    }
    return {};
}

std::string open_miscounted(const Scene& scene) {
    const auto open = scene.ledger.open_count();
    if (scene.state->open_count() != open) {
        return fmt::format("the log leaves {} open, the daemon counts {}", open,
                           scene.state->open_count());
    }
    std::size_t by_status = 0;
    for (std::size_t i = 0; i < status_names.size(); ++i) {
        by_status += scene.state->count(static_cast<Status>(i));
    }
    if (by_status == open) return {};
    return fmt::format("{} are open, by status {}", open, by_status);
}

namespace {

std::string absent_from_record(const SessionId& id, Generation generation, const Scene& scene) {
    const auto row = scene.reader->find(id);
    if (!row || !*row)
        return fmt::format("session {} was acknowledged, there is no row", id.text());
    if ((*row)->generation >= generation) return {};
    return fmt::format("session {} was acknowledged at generation {}, the row has {}", id.text(),
                       generation, (*row)->generation);
}

std::string absent_for(const Reply& reply, const Scene& scene) {
    const auto* opened = std::get_if<OpenedReply>(&reply);
    if (const auto* routed = std::get_if<RoutedReply>(&reply)) opened = &routed->session;
    if (const auto* branched = std::get_if<BranchedReply>(&reply)) opened = &branched->child;
    if (const auto* compressed = std::get_if<CompressedReply>(&reply)) opened = &compressed->child;
    if (opened != nullptr) {
        if (scene.ledger.life(opened->session_id, opened->generation) == nullptr) {
            return fmt::format("session {} was opened, the log does not say so",
                               opened->session_id.text());
        }
        return absent_from_record(opened->session_id, opened->generation, scene);
    }
    const auto* closed = std::get_if<ClosedReply>(&reply);
    if (const auto* reset = std::get_if<ResetReply>(&reply)) closed = &reset->closed;
    if (closed != nullptr) {
        const auto* life = scene.ledger.life(closed->session_id, closed->generation);
        if (life != nullptr && !life->open) return {};
        return fmt::format("session {} was closed, the log does not say so",
                           closed->session_id.text());
    }
    if (const auto* labelled = std::get_if<LabelledReply>(&reply)) {
        const auto* known = scene.ledger.find(labelled->session_id);
        if (!labelled->changed || (known != nullptr && known->labels)) return {};
        return fmt::format("session {} was written on, the log does not say so",
                           labelled->session_id.text());
    }
    if (const auto* process = std::get_if<ProcessReply>(&reply)) {
        const auto& id = process->process.id;
        const auto row = scene.reader->process(id);
        if (!row) return {};
        if (*row && scene.ledger.find(id) != nullptr) return {};
        return fmt::format("process {} was acknowledged and is not on record", id.text());
    }
    if (const auto* appended = std::get_if<AppendedReply>(&reply)) {
        const auto row = scene.reader->find(appended->session_id);
        if (row && *row && (*row)->tally.messages >= appended->tally.messages) return {};
        return fmt::format("messages of session {} were acknowledged and are not on record",
                           appended->session_id.text());
    }
    return {};
}

}  // namespace

std::string acknowledged_but_absent(const Scene& scene) {
    for (const auto& said : scene.step.said) {
        if (!said.reply) continue;
        if (auto what = absent_for(*said.reply, scene); !what.empty()) return what;
    }
    return {};
}

namespace {

/// What a session is called and where it works.
struct Names {
    std::string title;
    std::string cwd;

    friend bool operator==(const Names&, const Names&) = default;
};

/// As whoever began that generation gave them; nothing when nobody was told of it.
std::optional<Names> names_given(const Event& start, const Event* before, const StepFacts& step) {
    for (const auto& said : step.said) {
        const auto* opened = said.reply ? std::get_if<OpenedReply>(&*said.reply) : nullptr;
        if (opened == nullptr || opened->session_id != start.session_id) continue;
        if (opened->generation != start.generation) continue;
        if (const auto* create = as<Create>(said.input)) {
            return Names{create->draft.title, create->draft.cwd};
        }
        const auto* resume = as<Resume>(said.input);
        if (resume == nullptr || before == nullptr) return std::nullopt;
        Names names{before->title, before->cwd};
        if (!resume->cwd.empty()) names.cwd = resume->cwd;
        // The command's own name may only follow another's.
        const bool was_named = !before->title.empty() && before->title != before->command;
        const bool is_command = resume->title == resume->owner.command;
        if (!resume->title.empty() && !(is_command && was_named)) names.title = resume->title;
        return names;
    }
    return std::nullopt;
}

/// What an event should say, after all that was told before it.
std::optional<Names> names_for(const Event& event, const Scene& scene) {
    const auto* before = scene.ledger.before(event);
    if (event.type == EventType::session_start) return names_given(event, before, scene.step);
    if (before == nullptr) return std::nullopt;
    return Names{event.labels ? event.labels->title : before->title, before->cwd};
}

}  // namespace

std::string event_misnames(const Scene& scene) {
    for (const auto& event : scene.step.told) {
        const auto* life = scene.ledger.life(event.session_id, event.generation);
        if (life == nullptr || !life->is_owner_known) continue;
        const auto& id = event.session_id.text();
        const auto& owner = life->owner;
        const auto pid = owner.kind == OwnerKind::process ? owner.process.pid : 0;
        if (event.pid != pid || event.host != owner.host || event.command != owner.command) {
            return fmt::format(
                "event {} of session {} generation {} names {} {} on {}, not {} {} "
                "on {}",
                event.seq, id, event.generation, event.command, event.pid, event.host,
                owner.command, pid, owner.host);
        }
        const auto names = names_for(event, scene);
        if (names && names != Names{event.title, event.cwd}) {
            return fmt::format("event {} calls session {} \"{}\" in {}, not \"{}\" in {}",
                               event.seq, id, event.title, event.cwd, names->title, names->cwd);
        }
        const auto row = scene.reader->find(event.session_id);
        if (row && *row && (*row)->generation == event.generation && (*row)->cwd != event.cwd) {
            return fmt::format("event {} of session {} is about {}, not {}", event.seq, id,
                               event.cwd, (*row)->cwd);
        }
    }
    return {};
}

std::string refused_by_a_good_disk(const Scene& scene) {
    if (scene.step.disk_was_bad) return {};
    if (scene.step.failed) {
        for (const auto& said : scene.step.said) {
            if (!said.reply) return said.reply.error().message;
        }
        return "a step failed";
    }
    return {};
}

std::string record_broken(const Scene& scene) {
    const auto broken = testing::broken_promises(*scene.reader);
    if (!broken.empty()) return broken.front();
    for (const auto& [id, known] : scene.ledger.sessions()) {
        const auto row = scene.reader->find(SessionId(id));
        if (!row || !*row) return fmt::format("session {} is no longer on record", id);
        if ((*row)->generation != known.generation) {
            return fmt::format("session {} is at generation {}, the row says {}", id,
                               known.generation, (*row)->generation);
        }
        if ((*row)->end.has_value() == known.open) {
            return fmt::format("session {}: open in the log: {}, ended on record: {}", id,
                               known.open, (*row)->end.has_value());
        }
        const Labels on_record{.title = (*row)->title, .pinned = (*row)->pinned};
        if (known.labels.value_or(on_record) != on_record) {
            return fmt::format("session {}: what was written on it is \"{}\", on record \"{}\"", id,
                               to_text(*known.labels), to_text(on_record));
        }
        if ((*row)->tally.messages < known.messages) {
            return fmt::format("session {} lost messages: {} acknowledged, {} on record", id,
                               known.messages, (*row)->tally.messages);
        }
    }
    return {};
}

}  // namespace knell::sim
