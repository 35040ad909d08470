// process.list, process.show and process.output: background processes, what they do and wrote.

#include <fmt/format.h>

#include "core/limits.hpp"
#include "engine/refusals.hpp"
#include "rpc/method_table.hpp"
#include "rpc/methods/process_row.hpp"
#include "rpc/methods/session_page.hpp"
#include "rpc/process_params.hpp"
#include "wire/base64.hpp"
#include "wire/output_text.hpp"
#include "wire/process_json.hpp"

namespace knell::rpc {

enum class OutputEncoding : std::uint8_t { text, base64 };
inline constexpr std::array<std::string_view, 2> output_encoding_names{"text", "base64"};

}  // namespace knell::rpc

template <>
inline constexpr std::span<const std::string_view>
    knell::wire::names_of<knell::rpc::OutputEncoding>{knell::rpc::output_encoding_names};

namespace knell::rpc {

namespace {

using namespace process_rows;

// --- process.list and process.show --------------------------------------------------------------

constexpr std::array list_params{
    Field{.name = "session_id", .type = id, .about = "only of this session"},
    Field{.name = "key",
          .type = text,
          .max = limits::key_bytes_max,
          .about = "only of sessions with this routing key"},
    Field{.name = "task_id",
          .type = text,
          .about = "mark those of this task with `scope`; the others are listed too"},
    Field{.name = "all",
          .type = boolean,
          .standard = 0,
          .about = "also those that ended more than 30 minutes ago"},
    limit_param,
    cursor_param(limits::word_bytes_max),
};
constexpr std::array list_result{
    with_object(always("processes", array, "the newest first"), "process", process_fields),
    next_cursor,
};
constexpr std::array show_params{process_param};

struct Listed {
    ProcessQuery query;
    std::string task_id;
    WallTime now;
};

/// An empty list would tell of a mistyped session that nothing runs in it.
Result<void> check_session(const SessionId& id, Reader& reader) {
    const auto session = reader.find(id);
    if (!session) return std::unexpected(session.error());
    if (!*session) return std::unexpected(not_found(id));
    return {};
}

Result<Json> list_page(const Listed& asked, Reader& reader, const Backend& backend) {
    const auto& query = asked.query;
    auto page = reader.processes(query);
    if (!page) return std::unexpected(std::move(page.error()));
    // What a session left running may outlive the session's record, so that is asked for last.
    if (page->processes.empty() && !query.session_id.empty()) {
        if (auto known = check_session(query.session_id, reader); !known) {
            return std::unexpected(std::move(known.error()));
        }
    }
    JsonArray processes;
    for (auto& row : page->processes) {
        freshen(row.process, backend);
        processes.push_back(render_process(row, asked.task_id, asked.now, backend));
    }
    JsonObject result{{"processes", std::move(processes)}};
    if (page->next) result["next"] = fmt::to_string(*page->next);
    return result;
}

void list(Call&& call, Backend& backend) {
    auto given = given_of<list_params>(call);
    Listed asked{.query = {}, .task_id = given.get<"task_id">(), .now = backend.wall_time()};
    auto& query = asked.query;
    query.session_id = given.get<"session_id">();
    query.key = given.get<"key">();
    if (!query.key.empty() && !query.session_id.empty()) {
        given.reject("key", "does not go with session_id, which names one session");
    }
    query.exited_since =
        given.get<"all">() ? WallTime{} : asked.now - limits::process_kept_after_exit;
    query.limit = given.get_as<std::size_t, "limit">();
    query.before = read_cursor(given, given.get<"cursor">());
    query.bytes_max = limits::page_bytes_max;
    if (given.error()) return call.respond(given.failure());
    backend.read(
        call.caller.connection,
        [asked = std::move(asked), &backend](Reader& reader) {
            return list_page(asked, reader, backend);
        },
        std::move(call.respond));
}

void show(Call&& call, Backend& backend) {
    auto given = given_of<show_params>(call);
    auto id = read_process_id(given, given.get<"process_id">());
    if (given.error()) return call.respond(given.failure());
    backend.read(
        call.caller.connection,
        [id = std::move(id), now = backend.wall_time(), &backend](Reader& reader) -> Result<Json> {
            const auto row = read_process(id, reader, backend);
            if (!row) return std::unexpected(row.error());
            return render_process(*row, /*task_id=*/{}, now, backend);
        },
        std::move(call.respond));
}

// --- process.output -----------------------------------------------------------------------------

// A letter is never longer, so a page of text always gets on.
constexpr std::int64_t output_limit_min = 4;

constexpr std::array output_params{
    process_param,
    Field{.name = "after",
          .type = integer,
          .max = unbounded,
          .about = "from this byte on: `next` of the page before; default: the last `limit` bytes"},
    Field{.name = "limit",
          .type = integer,
          .min = output_limit_min,
          .max = limits::process_output_page_max,
          .standard = limits::process_output_page_default,
          .about = "bytes at most"},
    Field{.name = "encoding",
          .type = choice,
          .standard = place_of(OutputEncoding::text),
          .choices = names_of<OutputEncoding>,
          .about = "text: UTF-8, with U+FFFD for what is none"},
};
constexpr std::array output_gap_fields{
    always("from", integer, "the first byte that is no longer kept"),
    always("to", integer, "the last"),
};
constexpr std::array output_result{
    always("process_id", text, "the process"),
    always("output", content, "what it wrote to its standard output and error"),
    always_one_of<OutputEncoding>("encoding", "how that is written here"),
    always("after", integer, "the byte where it begins, counted from its start"),
    always("next", integer, "`after` of the next page"),
    Field{.name = "gap",
          .type = object,
          .fields = output_gap_fields,
          .when = "bytes that were asked for are no longer kept",
          .about = "which"},
    always_one_of<wire::ProcessState>("state", "exited: nothing more is to come"),
    always("more", boolean, "whether more can be read right now"),
};

/// Letters are not cut in two: what begins one whose rest is still to come is left for the next
/// page.
void keep_letters_whole(OutputPage& page, bool is_tail, bool may_grow) {
    if (is_tail && page.after > 0) {
        const auto size = wire::headless_bytes(page.bytes);
        page.bytes.erase(0, size);
        page.after += static_cast<std::int64_t>(size);
    }
    if (!may_grow && !page.more) return;
    const auto size = wire::unfinished_bytes(page.bytes);
    page.bytes.resize(page.bytes.size() - size);
    page.next -= static_cast<std::int64_t>(size);
}

Result<Json> read_output(const OutputQuery& query, OutputEncoding encoding, Reader& reader,
                         Backend& backend) {
    // First: what it writes until its exit is on record is part of what is read then.
    const auto row = read_process(query.process_id, reader, backend);
    if (!row) return std::unexpected(row.error());
    auto page = backend.process_output(query);
    if (!page) return std::unexpected(std::move(page.error()));
    const bool has_exited = row->process.exit.has_value();
    const bool is_text = encoding == OutputEncoding::text;
    if (is_text) keep_letters_whole(*page, !query.after, /*may_grow=*/!has_exited);
    JsonObject result{{"process_id", query.process_id.text()},
                      {"output", is_text ? wire::to_utf8(page->bytes) : base64_encode(page->bytes)},
                      {"encoding", name_in(output_encoding_names, encoding)},
                      {"after", page->after},
                      {"next", page->next}};
    if (page->gap) result["gap"] = JsonObject{{"from", page->gap->from}, {"to", page->gap->to}};
    result["state"] = name_in(wire::process_state_names, has_exited ? wire::ProcessState::exited
                                                                    : wire::ProcessState::running);
    result["more"] = page->more;
    return result;
}

void output(Call&& call, Backend& backend) {
    auto given = given_of<output_params>(call);
    OutputQuery query;
    query.process_id = read_process_id(given, given.get<"process_id">());
    query.after = given.get<"after">();
    query.limit = given.get_as<std::size_t, "limit">();
    const auto encoding = given.choice<OutputEncoding, "encoding">();
    if (given.error()) return call.respond(given.failure());
    backend.read(
        call.caller.connection,
        [query = std::move(query), encoding, &backend](Reader& reader) {
            return read_output(query, encoding, reader, backend);
        },
        std::move(call.respond));
}

constexpr std::array family{
    Method{"process.list", "background processes that run or ended lately, newest first",
           list_params, list_result, list, /*is_ordered=*/false, Access::read_only},
    Method{"process.show", "one background process with its facts", show_params, process_fields,
           show, /*is_ordered=*/false, Access::read_only},
    // It may hold secrets: not for those who only watch.
    Method{"process.output", "what a background process wrote", output_params, output_result,
           output, /*is_ordered=*/false, Access::full},
};

}  // namespace

std::span<const Method> process_read_methods() {
    return family;
}

}  // namespace knell::rpc
