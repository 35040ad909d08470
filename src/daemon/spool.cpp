#include "daemon/spool.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "platform/fd.hpp"
#include "platform/log.hpp"
#include "platform/small_file.hpp"
#include "rpc/decode.hpp"

namespace knell {

namespace {

namespace fs = std::filesystem;

/// A spool file under way.  Locked while it exists, so that `knell run` cannot add a line between
/// our reading and our deleting.
struct Delivery {
    fs::path path;
    Fd lock;
    std::size_t unanswered = 0;
    bool keep = false;

    void settle() const {
        if (keep) return;
        std::error_code error;
        fs::remove(path, error);
        if (error) {
            log_warn("cannot delete delivered {}: {}", path.string(), error.message());
        } else {
            log_info("took in {}: written while no daemon could be reached", path.string());
        }
    }
};

/// Delivered before, in part or whole: then the record is there already.
bool is_on_record(const Error& error) {
    return error.code == ErrorCode::owned || error.code == ErrorCode::ended;
}

void set_aside(const fs::path& path, std::string_view why) {
    auto bad = path;
    bad += ".bad";
    std::error_code error;
    fs::rename(path, bad, error);
    log_error("cannot take in {}: {}; {}", path.string(), why,
              error ? "and it cannot be renamed: " + error.message()
                    : "kept as " + bad.string());
}

Result<Command> parse_line(std::string_view line, rpc::Backend& backend) {
    const auto value = wire::parse_json(line);
    if (!value) return std::unexpected(value.error());
    const auto* object = value->if_object();
    const auto* params = object == nullptr ? nullptr : wire::object_at(*object, "params");
    if (params == nullptr) return fail(ErrorCode::parse_error, "a line without params");
    if (wire::int_at(*object, "v") != 1) {
        return fail(ErrorCode::parse_error, "a line of another version");
    }
    const auto at = parse_rfc3339(wire::text_at(*object, "at"));
    if (!at) return fail(ErrorCode::parse_error, "a line without a time");
    return rpc::decode_spooled(wire::text_at(*object, "method"), *params, *at, backend);
}

Result<std::vector<Command>> parse_file(std::string_view text, rpc::Backend& backend) {
    std::vector<Command> commands;
    while (!text.empty()) {
        const auto end = text.find('\n');
        // A last line without its end was cut short by a crash: it was never said.
        if (end == std::string_view::npos) break;
        if (const auto line = text.substr(0, end); !line.empty()) {
            auto command = parse_line(line, backend);
            if (!command) return std::unexpected(command.error());
            commands.push_back(std::move(*command));
        }
        text.remove_prefix(end + 1);
    }
    return commands;
}

void deliver_file(const fs::path& path, rpc::Backend& backend) {
    // Several answers and this function share it; the last one settles it.
    auto delivery = std::make_shared<Delivery>();
    delivery->path = path;
    delivery->lock = Fd{open(path.c_str(), O_RDWR | O_CLOEXEC)};
    if (!delivery->lock || flock(delivery->lock.get(), LOCK_EX | LOCK_NB) != 0) return;
    const auto text = read_small_file(path.string());
    if (!text) return;
    auto commands = parse_file(*text, backend);
    if (!commands) return set_aside(path, commands.error().message);

    delivery->unanswered = commands->size() + 1;
    const auto answered = [delivery](const Result<Reply>& reply) {
        if (!reply && !is_on_record(reply.error())) {
            delivery->keep = true;
            log_warn("{} stays for now: {}", delivery->path.string(), reply.error().message);
        }
        if (--delivery->unanswered == 0) delivery->settle();
    };
    for (auto& command : *commands) backend.submit(std::move(command), answered);
    if (--delivery->unanswered == 0) delivery->settle();
}

}  // namespace

void deliver_spool(const std::string& spool_dir, rpc::Backend& backend) {
    std::error_code error;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(spool_dir, error)) {
        if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
    }
    for (const auto& path : files) deliver_file(path, backend);
}

}  // namespace knell
