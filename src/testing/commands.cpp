#include "testing/commands.hpp"

namespace knell::testing {

Owner lease_owner(std::chrono::seconds ttl) {
    Owner owner;
    owner.kind = OwnerKind::lease;
    owner.lease_ttl = ttl;
    owner.host = "testhost";
    return owner;
}

Owner process_owner(int pid) {
    Owner owner;
    owner.process = {.pid = pid, .start_ticks = 7, .pid_namespace = 1, .boot_id = "boot-1"};
    owner.host = "testhost";
    return owner;
}

Create create(std::string id, std::string source) {
    Create create;
    create.draft.id = SessionId(std::move(id));
    create.draft.source = std::move(source);
    create.draft.owner = process_owner(100);
    return create;
}

Append append(std::string id, Generation generation, std::vector<std::string> contents) {
    Append append{SessionId(std::move(id)), generation, {}};
    for (auto& content : contents) append.messages.push_back({"user", std::move(content), {}, 3});
    return append;
}

Close close(std::string id, std::optional<Generation> generation, Reason reason) {
    return {SessionId(std::move(id)), generation, reason, "said so", "the test", {}};
}

Resume resume(std::string id, bool takeover) {
    return {SessionId(std::move(id)), process_owner(200), OnOwnerLoss::end, takeover, "the test"};
}

Turn turn(std::string id, Generation generation, bool on) {
    return {SessionId(std::move(id)), generation, on};
}

Now at(std::int64_t seconds) {
    return {from_millis(1'800'000'000'000 + seconds * 1000),
            SteadyTime{std::chrono::seconds{1000 + seconds}}};
}

}  // namespace knell::testing
