#include "summarize/input.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.hpp"
#include "platform/shortage.hpp"

namespace knell {

namespace {

constexpr std::size_t unwritten_bytes_max = 256U << 10U;

std::unexpected<Error> cannot_hold() {
    const int error = errno;
    return fail(is_shortage(error) ? ErrorCode::limit : ErrorCode::storage,
                fmt::format("cannot hold the messages to summarize: {}",
                            std::generic_category().message(error)));
}

}  // namespace

Result<SummaryInput> SummaryInput::create(const std::string& directory, std::int64_t bytes_max) {
    Fd file{open(directory.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600)};
    if (!file && errno == EOPNOTSUPP) file = Fd{memfd_create("knell-messages", MFD_CLOEXEC)};
    if (!file) return cannot_hold();
    return SummaryInput(std::move(file), bytes_max);
}

Result<void> SummaryInput::add_line(std::string_view json, std::size_t content_bytes) {
    CHECK(!json.contains('\n'));
    const auto bytes = static_cast<std::int64_t>(json.size() + 1);
    if (written_.input_bytes + bytes > bytes_max_) {
        return fail(ErrorCode::limit,
                    fmt::format("the messages to summarize have more than {} bytes", bytes_max_));
    }
    unwritten_ += json;
    unwritten_ += '\n';
    written_.input_bytes += bytes;
    written_.content_bytes += static_cast<std::int64_t>(content_bytes);
    if (unwritten_.size() < unwritten_bytes_max) return {};
    return write_out();
}

Result<SummaryInput::Written> SummaryInput::finish() {
    if (auto wrote = write_out(); !wrote) return std::unexpected(std::move(wrote.error()));
    return std::exchange(written_, {});
}

Result<void> SummaryInput::write_out() {
    std::string_view rest = unwritten_;
    while (!rest.empty()) {
        const auto size = ::write(written_.file.get(), rest.data(), rest.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return cannot_hold();
        rest.remove_prefix(static_cast<std::size_t>(size));
    }
    unwritten_.clear();
    return {};
}

}  // namespace knell
