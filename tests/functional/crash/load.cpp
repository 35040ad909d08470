#include "functional/crash/load.hpp"

#include <fmt/format.h>

namespace knell::functional::crash {

namespace {

constexpr std::size_t current_max = 4;
constexpr std::int64_t messages_max = 40;

}  // namespace

std::string message_text(const std::string& session, std::int64_t place) {
    return fmt::format("{}#{}", session, place);
}

void Worker::run(Client client, std::atomic<std::int64_t>& answers) {
    try {
        while (step(client)) {
            ++answers;
            answers.notify_one();
        }
    } catch (const std::exception& error) {
        surprises_.emplace_back(error.what());
    }
    // Whoever waits for a number of answers must not wait for a worker that is gone.
    answers = INT64_MAX / 2;
    answers.notify_all();
}

bool Worker::step(Client& client) {
    if (below(16) == 0) return take_over(client);
    if (current_.empty() || below(6) == 0) return create(client, new_id());
    const auto id = current_[below(current_.size())];
    const auto& facts = sessions_[id].acknowledged;
    if (facts.generation == 0) return create(client, id);  // a crash came first
    if (!facts.open) return resume(client, id);
    switch (below(8)) {
        case 0:
            return close(client, id);
        case 1:
        case 2:
            return flip_turn(client, id);
        default:
            return facts.messages < messages_max ? append(client, id) : close(client, id);
    }
}

std::string Worker::new_id() {
    auto id = fmt::format("{}-{}", name_, sessions_.size());
    if (current_.size() == current_max) current_.erase(current_.begin());
    current_.push_back(id);
    return id;
}

bool Worker::create(Client& client, const std::string& id) {
    return change(client, id, "session.create", fmt::format(R"({{"id":"{}","source":"cli"}})", id),
                  {.generation = 1, .open = true});
}

bool Worker::append(Client& client, const std::string& id) {
    auto after = sessions_[id].acknowledged;
    std::string messages;
    for (auto count = 1 + below(3); count > 0; --count) {
        messages += fmt::format(R"({}{{"role":"user","content":"{}","tokens":1}})",
                                messages.empty() ? "" : ",", message_text(id, ++after.messages));
    }
    return change(client, id, "session.append",
                  fmt::format(R"({{"session_id":"{}","generation":{},"messages":[{}]}})", id,
                              after.generation, messages),
                  after);
}

bool Worker::flip_turn(Client& client, const std::string& id) {
    auto after = sessions_[id].acknowledged;
    after.turn = !after.turn;
    return change(client, id, after.turn ? "turn.start" : "turn.end",
                  fmt::format(R"({{"session_id":"{}","generation":{}}})", id, after.generation),
                  after);
}

bool Worker::close(Client& client, const std::string& id) {
    auto after = sessions_[id].acknowledged;
    after.open = after.turn = false;
    return change(client, id, "session.close",
                  fmt::format(R"({{"session_id":"{}","generation":{}}})", id, after.generation),
                  after);
}

bool Worker::resume(Client& client, const std::string& id) {
    auto after = sessions_[id].acknowledged;
    ++after.generation;
    after.open = true;
    return change(client, id, "session.resume", fmt::format(R"({{"session_id":"{}"}})", id), after);
}

bool Worker::take_over(Client& client) {
    const auto answer = client.try_call(
        "session.resume", fmt::format(R"({{"session_id":"{}","takeover":true}})", shared_session));
    if (!answer) return false;
    if (!answer->ok()) {
        surprises_.push_back("takeover: " + answer->message());
    } else if (!taken_over_.insert(number(answer->result(), "generation")).second) {
        surprises_.emplace_back("one generation was given twice");
    }
    return true;
}

bool Worker::change(Client& client, const std::string& id, std::string_view method,
                    const std::string& params, const Facts& after) {
    touched_.insert(id);
    auto& tracked = sessions_[id];
    tracked.unanswered = after;
    const auto answer = client.try_call(method, params);
    if (!answer) return false;
    if (!answer->ok()) {
        surprises_.push_back(fmt::format("{} {}: {}", method, params, answer->message()));
    } else {
        tracked.acknowledged = after;
    }
    tracked.unanswered.reset();
    return true;
}

}  // namespace knell::functional::crash
