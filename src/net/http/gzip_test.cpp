#include "net/http/gzip.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include "net/http/bounds.hpp"

namespace knell::net::http {
namespace {

std::string unzipped(const std::string& compressed) {
    std::string text(bounds::gzip_bytes_max, '\0');
    z_stream stream{};
    EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
    std::string source = compressed;
    stream.next_in = reinterpret_cast<Bytef*>(source.data());
    stream.avail_in = static_cast<uInt>(source.size());
    stream.next_out = reinterpret_cast<Bytef*>(text.data());
    stream.avail_out = static_cast<uInt>(text.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    text.resize(text.size() - stream.avail_out);
    inflateEnd(&stream);
    return text;
}

TEST(Gzip, IsSentToWhoAsksForIt) {
    for (const auto* header : {"gzip", "deflate, gzip", "gzip;q=0.5", "br;q=1.0, gzip ;q=0.8", "*",
                               "identity;q=0, *;q=0.1", "x-gzip"}) {
        EXPECT_TRUE(accepts_gzip(header)) << header;
    }
    for (const auto* header :
         {"", "identity", "br", "gzip;q=0", "gzip;q=0.0, *", "*;q=0", "gzipx", ",;,"}) {
        EXPECT_FALSE(accepts_gzip(header)) << header;
    }
}

TEST(Gzip, PaysForWhatIsLongAndRepeatsItself) {
    std::string body;
    for (int i = 0; i < 1000; ++i)
        body += R"({"id":")" + std::to_string(i) + R"(","status":"idle"},)";

    const auto compressed = gzip_if_it_pays(body);

    ASSERT_TRUE(compressed);
    EXPECT_LT(compressed->size(), body.size() / 4);
    EXPECT_EQ(unzipped(*compressed), body);
}

TEST(Gzip, DoesNotPayForTheRest) {
    EXPECT_FALSE(gzip_if_it_pays(std::string(bounds::gzip_bytes_min - 1, 'a')));
    EXPECT_TRUE(gzip_if_it_pays(std::string(bounds::gzip_bytes_min, 'a')));
    EXPECT_FALSE(gzip_if_it_pays(std::string(bounds::gzip_bytes_max + 1, 'a')));

    std::string noise;
    std::uint32_t state = 1;
    for (int i = 0; i < 4096; ++i) {
        state = state * 1664525U + 1013904223U;
        noise += static_cast<char>(state >> 24U);
    }
    EXPECT_FALSE(gzip_if_it_pays(noise));
}

}  // namespace
}  // namespace knell::net::http
