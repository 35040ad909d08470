#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/limits.hpp"
#include "platform/fd.hpp"

namespace knell {

/// Writes what providers read: messages, a JSON object a line, into a file without a name that is
/// gone with its last descriptor.  One thread.
class SummaryInput {
  public:
    struct Written {
        Fd file;
        std::int64_t input_bytes = 0;
        std::int64_t content_bytes = 0;
    };

    /// In `directory`, or in memory where its file system has no files without names.  `limit`: the
    /// system is short of descriptors or memory; `storage`: the disk said no.  So it is below.
    static Result<SummaryInput> create(const std::string& directory,
                                       std::int64_t bytes_max = limits::summary_input_bytes_max);

    /// One message as JSON (`{"role":…,"content":…}`), without line ends; `content_bytes` is what
    /// its content has.  Past `bytes_max` of such lines the answer is `limit`.
    Result<void> add_line(std::string_view json, std::size_t content_bytes);

    /// Writes what is left and gives it away.  Once.
    Result<Written> finish();

  private:
    SummaryInput(Fd file, std::int64_t bytes_max)
        : bytes_max_(bytes_max), written_{std::move(file), 0, 0} {}

    Result<void> write_out();

    std::int64_t bytes_max_;
    Written written_;
    std::string unwritten_;
};

}  // namespace knell
