#include "core/compression.hpp"

#include "base/text.hpp"
#include "core/names.hpp"

namespace knell {

std::string to_text(const Compression& compression) {
    std::string text(name_in(compress_outcome_names, compression.outcome));
    text += '\t';
    append_escaped(text, compression.child.text());
    text += '\t';
    append_escaped(text, compression.provider);
    return text;
}

Compression compression_from_text(std::string_view text) {
    Compression compression;
    compression.outcome = find_in<CompressOutcome>(compress_outcome_names, take_field(text, '\t'))
                              .value_or(CompressOutcome::failed);
    compression.child = SessionId(unescaped(take_field(text, '\t')));
    compression.provider = unescaped(take_field(text, '\t'));
    return compression;
}

}  // namespace knell
