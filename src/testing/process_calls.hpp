#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/in_process_backend.hpp"

namespace knell::testing {

/// Calls of process.* to a daemon in this process, which has a session `a` and a process 300 of
/// somebody else's.
class ProcessCalls : public ::testing::Test {
  protected:
    ProcessCalls() {
        call("session.create", R"({"id":"a","source":"cli","key":"k"})");
        backend_.fake_processes().start(300, 9);
        backend_.fake_processes().set_knell(300, false);
        backend_.fake_processes().set_look(
            300, {.uid = 1000, .argv = {"python3", "-m", "http.server"}, .cwd = "/srv"});
    }

    /// The result, or the error, of one call.
    JsonObject call(std::string_view method, std::string_view params) {
        return call(method, params, backend_.caller());
    }
    JsonObject call(std::string_view method, std::string_view params, const rpc::Caller& caller) {
        const auto line = backend_.answer(
            fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}})", method, params),
            caller);
        const auto answer = wire::parse_json(line);
        EXPECT_TRUE(answer) << line;
        const auto& object = answer->get_object();
        const auto* part = object.if_contains("result");
        return (part != nullptr ? *part : object.at("error")).get_object();
    }
    std::string started(std::string_view more = "") {
        const auto row =
            call("process.start", fmt::format(R"({{"session_id":"a","argv":["make"]{}}})", more));
        EXPECT_TRUE(row.contains("process_id")) << wire::to_text(row);
        return std::string(wire::text_at(row, "process_id"));
    }
    JsonObject about(std::string_view method, std::string_view process,
                     std::string_view more = "") {
        return call(method, fmt::format(R"({{"process_id":"{}"{}}})", process, more));
    }
    std::string field_at_fault(std::string_view method, std::string_view params) {
        const auto error = call(method, params);
        EXPECT_TRUE(error.contains("code")) << method << params;
        return error.contains("data")
                   ? std::string(wire::text_at(error.at("data").as_object(), "field"))
                   : std::string{};
    }
    std::string kind_of_error(const JsonObject& error) {
        return error.contains("data")
                   ? std::string(wire::text_at(error.at("data").as_object(), "kind"))
                   : wire::to_text(error);
    }
    /// It ends, and that is seen.
    void exit_of(std::string_view process) {
        const auto row = backend_.reader().process(ProcessId(std::string(process)));
        const auto& identity = (*row)->process.process;
        backend_.fake_processes().end(identity.pid);
        Departure departure;
        departure.seen_at = SteadyTime{};
        backend_.observe(ProcessGone{identity, departure, {}});
    }

    InProcessBackend backend_;
};

}  // namespace knell::testing
