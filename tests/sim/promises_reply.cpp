// About answers: a small model of what a session allows, walked through in the order of decision.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "promises.hpp"

namespace knell::sim {

namespace {

struct Standing {
    Generation generation = 0;  // 0: never seen
    bool open = false;
    /// In this step: the ledger does not know its owner yet.
    const Owner* owner = nullptr;
    OnOwnerLoss on_owner_loss = OnOwnerLoss::end;
    std::optional<Labels> labels{};  // as far as is known
};

class Model {
  public:
    explicit Model(const Scene& scene) : scene_(scene) {}

    std::string take(const Said& said) {
        if (!said.reply && said.reply.error().code == ErrorCode::storage) return {};
        const auto* command = std::get_if<Command>(&said.input);
        if (command == nullptr) return {};
        return std::visit([&](const auto& asked) { return judge(asked, said.reply); }, *command);
    }

  private:
    Standing& at(const SessionId& id) {
        const auto [place, is_new] = standings_.try_emplace(id.text());
        if (!is_new) return place->second;
        if (const auto* known = scene_.ledger.find(id)) {
            place->second.generation = known->generation;
            place->second.open = known->open;
            place->second.labels = known->labels;
        }
        return place->second;
    }

    static std::string expect(const SessionId& id, std::string_view what,
                              std::optional<ErrorCode> wanted, const Result<Reply>& reply) {
        const bool fits = wanted ? !reply && reply.error().code == *wanted : reply.has_value();
        if (fits) return {};
        return fmt::format("{} of session {} was {}", what, id.text(),
                           reply ? "taken" : "refused: " + reply.error().message);
    }

    /// Its owner is gone: it is parked, or will be as soon as that is noticed.
    bool may_be_parked(const SessionId& id, Generation generation) {
        const auto* life = scene_.ledger.life(id, generation);
        return life != nullptr && life->owner.kind == OwnerKind::process &&
               life->on_owner_loss == OnOwnerLoss::park &&
               !scene_.host.is_alive(life->owner.process);
    }

    bool is_hosted(const SessionId& id) {
        const auto& standing = at(id);
        if (standing.owner != nullptr) return standing.owner->kind == OwnerKind::hosted;
        const auto* life = scene_.ledger.life(id, standing.generation);
        return life != nullptr && life->owner.kind == OwnerKind::hosted;
    }

    /// Its owner is gone: it ends by that as soon as what it left behind was looked for.
    bool may_be_departing(const SessionId& id, Generation generation) {
        const auto is_gone = [&](const Owner& owner) {
            return owner.kind == OwnerKind::process && !scene_.host.is_alive(owner.process);
        };
        if (const auto& standing = at(id); standing.owner != nullptr) {
            return standing.on_owner_loss == OnOwnerLoss::end && is_gone(*standing.owner);
        }
        const auto* life = scene_.ledger.life(id, generation);
        return life != nullptr && life->on_owner_loss == OnOwnerLoss::end && is_gone(life->owner);
    }

    bool is_just_ended(const SessionId& id, Generation generation, const Result<Reply>& reply) {
        return !reply && reply.error().code == ErrorCode::ended &&
               at(id).generation == generation && may_be_departing(id, generation);
    }

    /// A parked one takes no write.
    bool is_blocked(const SessionId& id, Generation generation, const Result<Reply>& reply) {
        return !reply && reply.error().code == ErrorCode::blocked &&
               at(id).generation == generation && may_be_parked(id, generation);
    }

    /// Whether the caller of a close owned an earlier generation, and not this one; nothing when
    /// that cannot be told from outside.
    std::optional<bool> is_former_owner(const Close& close, const Standing& standing) {
        if (!close.caller || close.generation || !standing.open) return false;
        const auto* known = scene_.ledger.find(close.session_id);
        const auto* current = scene_.ledger.life(close.session_id, standing.generation);
        if (known == nullptr || current == nullptr) return std::nullopt;
        bool former = false;
        for (const auto& [generation, life] : known->lives) {
            if (!life.is_owner_known) return std::nullopt;
            if (generation >= standing.generation) continue;
            former = former || life.owner.process == *close.caller;
        }
        return former && current->owner.process != *close.caller;
    }

    /// What a write under that generation must be told.
    static std::optional<ErrorCode> verdict(const Standing& standing, Generation generation) {
        if (standing.generation == 0) return ErrorCode::not_found;
        if (!standing.open) return ErrorCode::ended;
        if (standing.generation != generation) return ErrorCode::fenced;
        return std::nullopt;
    }

    /// Which session it reaches is judged with what is known of conversations.
    std::string judge(const Route& route, const Result<Reply>& reply) {
        if (!reply) return {};
        const auto& routed = std::get<RoutedReply>(*reply);
        if (routed.auto_reset) at(routed.auto_reset->prior).open = false;
        auto& standing = at(routed.session.session_id);
        if (routed.is_new || routed.is_resumed) {
            standing.owner = &route.draft.owner;
            standing.on_owner_loss = route.draft.on_owner_loss;
        }
        standing.generation = routed.session.generation;
        standing.open = true;
        return {};
    }

    /// Whoever names what was replaced is told what goes on in its place.
    bool is_replaced(const SessionId& id, const Result<Reply>& reply) {
        if (id.empty() || reply || reply.error().code != ErrorCode::ended || at(id).open) {
            return false;
        }
        const auto* ended = std::get_if<EndedAs>(&reply.error().facts);
        return ended != nullptr && !ended->successor.empty() && at(ended->successor).generation > 0;
    }

    std::string judge(const Suspend& suspend, const Result<Reply>& reply) {
        if (suspend.name.session_id.empty()) return {};
        if (is_replaced(suspend.name.session_id, reply)) return {};
        const bool is_there = at(suspend.name.session_id).generation > 0;
        return expect(suspend.name.session_id, "suspend",
                      is_there ? std::nullopt : std::optional(ErrorCode::not_found), reply);
    }

    std::string judge(const Reset& reset, const Result<Reply>& reply) {
        if (!reply) {
            if (reply.error().code == ErrorCode::blocked && !reset.force) return {};
            if (is_replaced(reset.name.session_id, reply)) return {};
            if (reset.name.session_id.empty() && reply.error().code == ErrorCode::not_found) {
                return {};
            }
            const bool is_there = at(reset.name.session_id).generation > 0;
            return expect(reset.name.session_id, "reset",
                          is_there ? std::nullopt : std::optional(ErrorCode::not_found), reply);
        }
        const auto& closed = std::get<ResetReply>(*reply).closed;
        auto& standing = at(closed.session_id);
        const bool was_open = std::exchange(standing.open, false);
        const bool fits = was_open != closed.already_ended ||
                          may_be_departing(closed.session_id, closed.generation);
        if (fits && standing.generation == closed.generation) return {};
        return fmt::format("session {} was reset, and was {}", closed.session_id.text(),
                           was_open ? "said to have ended before" : "not open");
    }

    /// A child takes the place of that session, or comes beside it.
    void note_child(const SessionId& parent, const OpenedReply& child, bool has_ended) {
        auto& before = at(parent);
        Standing standing{child.generation, true, before.owner, before.on_owner_loss};
        if (const auto* life = scene_.ledger.life(parent, before.generation);
            standing.owner == nullptr && life != nullptr) {
            standing.owner = &life->owner;
            standing.on_owner_loss = life->on_owner_loss;
        }
        if (has_ended) before.open = false;
        at(child.session_id) = standing;
    }

    std::string judge(const Branch& branch, const Result<Reply>& reply) {
        const auto& id = branch.session_id;
        if (is_blocked(id, branch.generation, reply)) return {};
        if (is_just_ended(id, branch.generation, reply)) return {};
        const auto wanted = verdict(at(id), branch.generation);
        if (reply) note_child(id, std::get<BranchedReply>(*reply).child, !branch.keep_open);
        return expect(id, "branch", wanted, reply);
    }

    std::string judge(const Compress& compress, const Result<Reply>& reply) {
        const auto& id = compress.session_id;
        if (is_blocked(id, compress.generation, reply)) return {};
        if (is_just_ended(id, compress.generation, reply)) return {};
        const auto wanted = verdict(at(id), compress.generation);
        if (reply) note_child(id, std::get<CompressedReply>(*reply).child, /*has_ended=*/true);
        return expect(id, "compression", wanted, reply);
    }

    /// Whoever writes to one that was compressed or branched is told what goes on in its place.
    std::string wrong_successor(const SessionId& id, const Result<Reply>& reply) const {
        const auto* one = scene_.ledger.conversations.find(id);
        if (reply || reply.error().code != ErrorCode::ended || one == nullptr || one->open) {
            return {};
        }
        const auto* facts = std::get_if<EndedAs>(&reply.error().facts);
        if (facts == nullptr || facts->reason != one->ended_as) return {};
        if (facts->successor == one->successor) return {};
        return fmt::format("who writes to session {} is sent to \"{}\", not to \"{}\"", id.text(),
                           facts->successor.text(), one->successor.text());
    }

    std::string judge(const Create& create, const Result<Reply>& reply) {
        auto& standing = at(create.draft.id);
        if (is_just_ended(create.draft.id, standing.generation, reply)) return {};
        std::optional<ErrorCode> wanted;
        if (standing.open) wanted = ErrorCode::owned;
        if (!standing.open && standing.generation > 0) wanted = ErrorCode::ended;
        const auto& draft = create.draft;
        if (reply) standing = {1, !create.and_close, &draft.owner, draft.on_owner_loss};
        return expect(create.draft.id, "create", wanted, reply);
    }

    std::string judge(const Resume& resume, const Result<Reply>& reply) {
        auto& standing = at(resume.session_id);
        const auto before = standing;
        if (is_hosted(resume.session_id) && before.open && !resume.takeover &&
            resume.owner.kind == OwnerKind::hosted) {
            return expect(resume.session_id, "resume", std::nullopt, reply);
        }
        const bool was_departing = may_be_departing(resume.session_id, before.generation);
        if (reply) {
            const auto generation = std::get<OpenedReply>(*reply).generation;
            standing = {generation, !(resume.and_close && !before.open), &resume.owner,
                        resume.on_owner_loss};
            if (generation != before.generation + 1) {
                return fmt::format("session {} went from generation {} to {}",
                                   resume.session_id.text(), before.generation, generation);
            }
        }
        if (before.generation == 0) {
            return expect(resume.session_id, "resume", ErrorCode::not_found, reply);
        }
        if (!before.open || resume.takeover) {
            return expect(resume.session_id, "resume", std::nullopt, reply);
        }
        // Without a takeover only a parked one may be claimed: its owner is gone.
        if (may_be_parked(resume.session_id, before.generation)) return {};
        // Or one whose owner was seen to go a moment ago.
        if (reply && was_departing) return {};
        return expect(resume.session_id, "resume", ErrorCode::owned, reply);
    }

    std::string judge(const Append& append, const Result<Reply>& reply) {
        if (is_blocked(append.session_id, append.generation, reply)) return {};
        if (is_just_ended(append.session_id, append.generation, reply)) return {};
        if (auto what = wrong_successor(append.session_id, reply); !what.empty()) return what;
        return expect(append.session_id, fmt::format("append under {}", append.generation),
                      verdict(at(append.session_id), append.generation), reply);
    }

    std::string judge(const Turn& turn, const Result<Reply>& reply) {
        if (is_blocked(turn.session_id, turn.generation, reply)) return {};
        if (is_just_ended(turn.session_id, turn.generation, reply)) return {};
        return expect(turn.session_id, fmt::format("turn under {}", turn.generation),
                      verdict(at(turn.session_id), turn.generation), reply);
    }

    std::string judge(const Attach& attach, const Result<Reply>& reply) {
        const auto& standing = at(attach.session_id);
        if (is_just_ended(attach.session_id, standing.generation, reply)) return {};
        return expect(attach.session_id, "attach", verdict(standing, standing.generation), reply);
    }

    std::string judge(const Detach& detach, const Result<Reply>& reply) {
        const bool is_there = at(detach.session_id).generation > 0;
        return expect(detach.session_id, "detach",
                      is_there ? std::nullopt : std::optional(ErrorCode::not_found), reply);
    }

    std::string judge(const Label& label, const Result<Reply>& reply) {
        auto& standing = at(label.session_id);
        const bool is_there = standing.generation > 0;
        if (!reply || !is_there) {
            return expect(label.session_id, "label",
                          is_there ? std::nullopt : std::optional(ErrorCode::not_found), reply);
        }
        const auto& said = std::get<LabelledReply>(*reply).labels;
        auto wanted = standing.labels.value_or(said);
        if (label.title) wanted.title = *label.title;
        if (label.pinned) wanted.pinned = *label.pinned;
        standing.labels = said;
        if (said == wanted) return {};
        return fmt::format("session {} was to say \"{}\" and says \"{}\"", label.session_id.text(),
                           to_text(wanted), to_text(said));
    }

    std::string judge(const Close& close, const Result<Reply>& reply) {
        auto& standing = at(close.session_id);
        std::optional<ErrorCode> wanted;
        if (standing.generation == 0) {
            wanted = ErrorCode::not_found;
        } else if (close.generation.value_or(standing.generation) != standing.generation) {
            wanted = ErrorCode::fenced;
        }
        const auto former = is_former_owner(close, standing);
        if (!former) {
            if (reply) standing.open = false;
            return {};
        }
        if (*former) wanted = ErrorCode::fenced;
        if (reply) standing.open = false;
        return expect(close.session_id, "close", wanted, reply);
    }

    std::string judge(const RecordProcess& record, const Result<Reply>& reply) {
        const auto& draft = record.draft;
        const auto& standing = at(draft.session_id);
        if (is_just_ended(draft.session_id, standing.generation, reply)) return {};
        if (const auto wanted = verdict(standing, standing.generation)) {
            return expect(draft.session_id, "a process", wanted, reply);
        }
        const auto* as = scene_.ledger.running_as(draft.process);
        if (!reply && reply.error().code == ErrorCode::owned) {
            const bool is_there = as != nullptr || may_start_in_step(draft.process);
            return is_there ? "" : fmt::format("process {} is not on record", draft.id.text());
        }
        const auto started = [](const Event& event) {
            return event.type == EventType::process_start;
        };
        const auto came =
            static_cast<std::size_t>(std::ranges::count_if(scene_.step.told, started));
        if (!reply && reply.error().code == ErrorCode::limit) {
            const bool is_full =
                scene_.ledger.running_of(draft.session_id) + came >= record.per_session_max ||
                scene_.ledger.running() + came >= record.node_max;
            return is_full ? "" : fmt::format("process {}: there is room for it", draft.id.text());
        }
        if (!reply) return expect(draft.session_id, "a process", std::nullopt, reply);
        const auto& given = std::get<ProcessReply>(*reply);
        if (given.process.process != draft.process) {
            return fmt::format("process {}: the answer is about another", draft.id.text());
        }
        if (as == nullptr || !given.changed) return {};
        // It may have gone, and come on record again, in this very step.
        const bool has_gone = std::ranges::any_of(scene_.step.told, [&](const Event& event) {
            return event.process && event.process->exit && event.process->id.text() == *as;
        });
        return has_gone ? "" : fmt::format("process {} is on record twice", draft.id.text());
    }

    bool may_start_in_step(const ProcessIdentity& process) const {
        return std::ranges::any_of(scene_.step.told, [&](const Event& event) {
            return event.process && event.process->process == process;
        });
    }

    /// A word about a process is refused where none of that name runs.
    std::string judge_of_running(const ProcessId& id, const Result<Reply>& reply) const {
        const auto* known = scene_.ledger.find(id);
        const bool runs = known != nullptr && known->running;
        const bool changes = std::ranges::any_of(scene_.step.told, [&](const Event& event) {
            return event.process && event.process->id == id;
        });
        if (changes) return {};
        if (runs && reply) return {};
        if (!runs && !reply && reply.error().code == ErrorCode::not_found) return {};
        return fmt::format("process {} {}, a word about it was {}", id.text(),
                           runs ? "runs" : "does not run",
                           reply ? "taken" : "refused: " + reply.error().message);
    }

    std::string judge(const StopProcess& stop, const Result<Reply>& reply) const {
        return judge_of_running(stop.process_id, reply);
    }

    std::string judge(const VouchProcess& vouch, const Result<Reply>& reply) const {
        // It waited: whether its time was over by then cannot be told from outside.
        if (!reply && reply.error().code == ErrorCode::invalid_params && vouch.until) return {};
        return judge_of_running(vouch.process_id, reply);
    }

    std::string judge(const CheckTool& check, const Result<Reply>& reply) {
        if (is_blocked(check.session_id, check.generation, reply)) return {};
        if (is_just_ended(check.session_id, check.generation, reply)) return {};
        return expect(check.session_id, fmt::format("check under {}", check.generation),
                      verdict(at(check.session_id), check.generation), reply);
    }

    std::string judge(const ReportTools& reports, const Result<Reply>& reply) {
        const auto& id = reports.session_id;
        if (!id.empty()) {
            if (is_blocked(id, reports.generation, reply)) return {};
            if (is_just_ended(id, reports.generation, reply)) return {};
            return expect(id, fmt::format("report under {}", reports.generation),
                          verdict(at(id), reports.generation), reply);
        }
        if (!reply) return "reports were refused: " + reply.error().message;
        const auto& lists = std::get<ToolsReportedReply>(*reply);
        for (const auto& one : reports.reports) {
            const auto wanted = verdict(at(one.session_id), one.generation);
            const auto in = [&](const std::vector<SessionId>& ids) {
                return std::ranges::find(ids, one.session_id) != ids.end();
            };
            const bool may_be_refused =
                (in(lists.fenced) && may_be_parked(one.session_id, one.generation)) ||
                (in(lists.ended) && may_be_departing(one.session_id, one.generation));
            const bool fits = !wanted ? may_be_refused || (!in(lists.fenced) && !in(lists.ended))
                              : *wanted == ErrorCode::fenced ? in(lists.fenced)
                                                             : in(lists.ended);
            if (!fits) return fmt::format("report of {} got a wrong answer", one.session_id.text());
        }
        return {};
    }

    std::string judge(const Heartbeat& heartbeat, const Result<Reply>& reply) {
        if (!reply) return "a beat was refused: " + reply.error().message;
        const auto& beats = std::get<HeartbeatReply>(*reply);
        for (const auto& beat : heartbeat.beats) {
            const auto wanted = verdict(at(beat.session_id), beat.generation);
            const auto in = [&](const std::vector<SessionId>& ids) {
                return std::ranges::find(ids, beat.session_id) != ids.end();
            };
            if (!wanted && in(beats.fenced) && may_be_parked(beat.session_id, beat.generation)) {
                continue;
            }
            if (!wanted && in(beats.ended) && may_be_departing(beat.session_id, beat.generation)) {
                continue;
            }
            const bool fits = !wanted                        ? in(beats.renewed)
                              : *wanted == ErrorCode::fenced ? in(beats.fenced)
                                                             : in(beats.ended);
            if (!fits) return fmt::format("beat of {} got a wrong answer", beat.session_id.text());
        }
        return {};
    }

    const Scene& scene_;
    std::map<std::string, Standing> standings_;
};

}  // namespace

std::string wrong_reply(const Scene& scene) {
    Model model(scene);
    for (const auto& said : scene.step.said) {
        if (auto what = model.take(said); !what.empty()) return what;
    }
    return {};
}

}  // namespace knell::sim
