#include "mcp/server.hpp"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "core/limits.hpp"
#include "mcp/shortened.hpp"
#include "mcp/tool_calls.hpp"
#include "mcp/tools.hpp"

namespace knell::mcp {

namespace {

using wire::text_at;

enum Code : int {
    parse_error = -32700,
    invalid_request = -32600,
    method_not_found = -32601,
    invalid_params = -32602,
    unsupported_version = -32022,
};

constexpr std::string_view version_key = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view capabilities_key = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view server_info_key = "io.modelcontextprotocol/serverInfo";

/// The tools are compiled in: what was told holds as long as the program.
constexpr std::int64_t cache_millis = 3'600'000;

constexpr std::string_view instructions =
    "knell keeps the record of agent sessions on this machine and of their background processes. "
    "Ask process_list or session_status what runs before you conclude that nothing does; start "
    "what "
    "is to outlive a call with process_start; stop what is no longer needed with process_stop, and "
    "vouch with process_vouch for what is to be kept although it does nothing.";

JsonObject refusal(const Json& id, Code code, std::string_view message) {
    return {{"jsonrpc", "2.0"},
            {"id", id},
            {"error", JsonObject{{"code", static_cast<int>(code)}, {"message", message}}}};
}

JsonObject refuse_version(const Json& id, const Json& requested) {
    JsonArray supported;
    for (const auto& version : protocol_versions) {
        if (!version.by_handshake) supported.emplace_back(version.name);
    }
    auto refused = refusal(id, unsupported_version, "this protocol version is not supported");
    refused["error"].as_object()["data"] =
        JsonObject{{"supported", std::move(supported)}, {"requested", requested}};
    return refused;
}

/// What a client asks for has an id; MCP allows no null.
bool may_be_id(const Json& id) {
    return id.is_string() || id.is_number();
}

bool is_answer(const JsonObject& message) {
    return !message.contains("method") && (message.contains("result") || message.contains("error"));
}

/// Where a page of tools begins; nothing when it is no cursor of ours.
std::optional<std::size_t> place_of(std::string_view cursor) {
    std::size_t place = 0;
    const auto* end = cursor.data() + cursor.size();
    const auto read = std::from_chars(cursor.data(), end, place);
    if (read.ec != std::errc{} || read.ptr != end || place >= tools().size()) return std::nullopt;
    return place;
}

}  // namespace

void Server::wait(Waiting waiting) {
    waiting_bytes_ += waiting.bytes;
    waiting_.push_back(std::move(waiting));
}

void Server::receive(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) return;
    auto message = wire::parse_json(line);
    if (!message) {
        wait({.refusal = refusal(nullptr, parse_error, message.error().message),
              .bytes = line.size()});
        return;
    }
    const auto* object = message->if_object();
    if (object != nullptr && text_at(*object, "method") == "notifications/cancelled") {
        return cancel(*object);
    }
    wait({.message = std::move(*message), .bytes = line.size()});
}

void Server::receive_too_long() {
    wait({.refusal = refusal(nullptr, invalid_request,
                             fmt::format("the line is too long; at most {} bytes are allowed",
                                         limits::line_bytes_max))});
}

void Server::cancel(const JsonObject& notification) {
    const auto* params = wire::object_at(notification, "params");
    const auto* id = params == nullptr ? nullptr : params->if_contains("requestId");
    if (id == nullptr || !may_be_id(*id)) return;
    std::erase_if(waiting_, [&](const Waiting& waiting) {
        const auto* message = waiting.message.if_object();
        const auto* waiting_id = message == nullptr ? nullptr : message->if_contains("id");
        const bool is_meant = waiting_id != nullptr && *waiting_id == *id &&
                              text_at(*message, "method") != "initialize";
        if (is_meant) waiting_bytes_ -= waiting.bytes;
        return is_meant;
    });
}

std::string Server::answer_next() {
    if (waiting_.empty()) return {};
    const auto next = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= next.bytes;
    Json said;
    if (!next.refusal.empty()) {
        said = next.refusal;
    } else if (const auto* batch = next.message.if_array()) {
        said = answer_batch(*batch);
    } else {
        said = answer_one(next.message, /*is_batched=*/false);
    }
    return said.is_null() ? std::string{} : wire::to_text(said) + "\n";
}

Json Server::answer_batch(const JsonArray& messages) {
    if (agreed_ == nullptr || !agreed_->batches) {
        return refusal(nullptr, invalid_request, "a message is one JSON object, not an array");
    }
    if (messages.empty() || messages.size() > batch_messages_max) {
        return refusal(nullptr, invalid_request,
                       fmt::format("a batch holds 1 to {} messages", batch_messages_max));
    }
    JsonArray answers;
    for (const auto& message : messages) {
        if (auto said = answer_one(message, /*is_batched=*/true); !said.is_null()) {
            answers.push_back(std::move(said));
        }
    }
    return answers.empty() ? Json{} : Json(std::move(answers));
}

Json Server::answer_one(const Json& message, bool is_batched) {
    const auto* object = message.if_object();
    if (object == nullptr) return refusal(nullptr, invalid_request, "a message is a JSON object");
    // Nothing is ever asked from here.
    if (is_answer(*object)) return nullptr;
    const auto* id = object->if_contains("id");
    if (id != nullptr && !may_be_id(*id)) {
        return refusal(nullptr, invalid_request, "id: must be a string or a number");
    }
    const auto* method = object->if_contains("method");
    const auto* params = object->if_contains("params");
    const bool has_params = params != nullptr && !params->is_null();
    const char* wrong = nullptr;
    if (text_at(*object, "jsonrpc") != "2.0") {
        wrong = R"(jsonrpc: must be the string "2.0")";
    } else if (method == nullptr || !method->is_string()) {
        wrong = "method: must be a string";
    } else if (has_params && !params->is_object()) {
        wrong = "params: must be an object";
    }
    if (wrong != nullptr) return refusal(id == nullptr ? Json{} : *id, invalid_request, wrong);
    // A notification: none that has come this far changes anything here.
    if (id == nullptr) return nullptr;
    const JsonObject none;
    return serve({.id = *id,
                  .method = method->get_string(),
                  .params = has_params ? params->get_object() : none,
                  .is_batched = is_batched});
}

JsonObject Server::serve(const Request& request) {
    const auto* meta = wire::object_at(request.params, "_meta");
    const auto* named = meta == nullptr ? nullptr : meta->if_contains(version_key);
    if (named != nullptr) {
        const auto* version = named->is_string() ? find_version(named->get_string()) : nullptr;
        if (version == nullptr || version->by_handshake) return refuse_version(request.id, *named);
        if (wire::object_at(*meta, capabilities_key) == nullptr) {
            return refusal(request.id, invalid_params,
                           fmt::format("_meta: \"{}\" is required", capabilities_key));
        }
        return serve_in(*version, request);
    }
    if (request.method == "initialize") return initialize(request);
    if (request.method == "ping") {
        return answer(agreed_ == nullptr ? newest_by_handshake : *agreed_, request, {});
    }
    if (request.method == "server/discover" || agreed_ == nullptr) {
        return refusal(request.id, invalid_params,
                       fmt::format("_meta: \"{}\" is required; clients of {} and older call "
                                   "initialize first",
                                   version_key, newest_by_handshake.name));
    }
    return serve_in(*agreed_, request);
}

JsonObject Server::serve_in(const ProtocolVersion& version, const Request& request) {
    if (request.method == "server/discover") return discover(version, request);
    if (request.method == "tools/list") return list_tools(version, request);
    if (request.method == "tools/call") return call_tool(version, request);
    return refusal(request.id, method_not_found,
                   fmt::format("there is no method \"{}\"", shortened(request.method)));
}

JsonObject Server::initialize(const Request& request) {
    if (request.is_batched) {
        return refusal(request.id, invalid_request, "initialize must not be part of a batch");
    }
    const auto* asked = request.params.if_contains("protocolVersion");
    if (asked == nullptr || !asked->is_string()) {
        return refusal(request.id, invalid_params, "protocolVersion: must be a string");
    }
    const auto* version = find_version(asked->get_string());
    agreed_ = version != nullptr && version->by_handshake ? version : &newest_by_handshake;
    return answer(*agreed_, request,
                  {{"protocolVersion", agreed_->name},
                   {"capabilities", JsonObject{{"tools", JsonObject{}}}},
                   {"serverInfo", own_name(*agreed_)},
                   {"instructions", instructions}});
}

JsonObject Server::discover(const ProtocolVersion& version, const Request& request) const {
    JsonArray supported;
    for (const auto& known : protocol_versions) {
        if (!known.by_handshake) supported.emplace_back(known.name);
    }
    return answer(version, request,
                  {{"supportedVersions", std::move(supported)},
                   {"capabilities", JsonObject{{"tools", JsonObject{}}}},
                   {"instructions", instructions},
                   {"ttlMs", cache_millis},
                   {"cacheScope", "public"}});
}

JsonObject Server::list_tools(const ProtocolVersion& version, const Request& request) const {
    std::size_t place = 0;
    if (const auto* cursor = request.params.if_contains("cursor");
        cursor != nullptr && !cursor->is_null()) {
        const auto found = cursor->is_string() ? place_of(cursor->get_string()) : std::nullopt;
        if (!found) return refusal(request.id, invalid_params, "cursor: is none of this server");
        place = *found;
    }
    const auto rest = tools().subspan(place);
    JsonArray page;
    for (const auto& tool : rest.first(std::min(rest.size(), options_.tools_page))) {
        page.emplace_back(describe(tool, version));
    }
    JsonObject result;
    if (page.size() < rest.size()) result["nextCursor"] = std::to_string(place + page.size());
    result["tools"] = std::move(page);
    if (!version.by_handshake) {
        result["ttlMs"] = cache_millis;
        result["cacheScope"] = "public";
    }
    return answer(version, request, std::move(result));
}

JsonObject Server::call_tool(const ProtocolVersion& version, const Request& request) {
    const auto* name = request.params.if_contains("name");
    const auto* given = request.params.if_contains("arguments");
    if (name == nullptr || !name->is_string()) {
        return refusal(request.id, invalid_params, "name: must be a string");
    }
    const auto* tool = find_tool(name->get_string());
    if (tool == nullptr) {
        const std::string_view unknown = name->get_string();
        return refusal(request.id, invalid_params,
                       fmt::format("there is no tool \"{}\"", shortened(unknown)));
    }
    const bool has_arguments = given != nullptr && !given->is_null();
    if (has_arguments && !given->is_object()) {
        return refusal(request.id, invalid_params, "arguments: must be an object");
    }
    auto called =
        mcp::call_tool(*tool, has_arguments ? given->get_object() : JsonObject{}, surroundings_);
    JsonArray texts;
    for (auto& text : called.texts) {
        texts.emplace_back(JsonObject{{"type", "text"}, {"text", std::move(text)}});
    }
    JsonObject result{{"content", std::move(texts)}};
    if (version.structured) result["structuredContent"] = std::move(called.content);
    result["isError"] = called.is_error;
    return answer(version, request, std::move(result));
}

JsonObject Server::own_name(const ProtocolVersion& version) const {
    JsonObject name{{"name", "knell"}};
    if (version.structured) name["title"] = "knell: sessions and background processes";
    name["version"] = options_.version;
    return name;
}

JsonObject Server::answer(const ProtocolVersion& version, const Request& request,
                          JsonObject result) const {
    if (!version.by_handshake) {
        result["resultType"] = "complete";
        result["_meta"] = JsonObject{{server_info_key, own_name(version)}};
    }
    return {{"jsonrpc", "2.0"}, {"id", request.id}, {"result", std::move(result)}};
}

}  // namespace knell::mcp
