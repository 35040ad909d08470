// Messages are found by their words: all that was committed, whether it is in the index yet or not.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "core/read_limits.hpp"
#include "store/archive.hpp"
#include "stores.hpp"

namespace knell::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

SearchQuery query_for(std::string_view text) {
    SearchQuery query;
    query.terms = parse_search_terms(text).value();
    query.limit = 100;
    return query;
}

std::vector<std::string> texts_of(const SearchPage& page) {
    std::vector<std::string> texts;
    for (const auto& message : page.messages) texts.push_back(message.snippet.text);
    return texts;
}

class Search : public StoreStory {
  protected:
    SearchPage found(const SearchQuery& query) {
        const auto page = archive_of(reader()).search(query);
        EXPECT_TRUE(page) << page.error().message;
        return page.value_or(SearchPage{});
    }
    std::vector<std::string> texts(const SearchQuery& query) { return texts_of(found(query)); }
    std::vector<std::string> texts(std::string_view text) { return texts(query_for(text)); }

    void say(const std::string& id, std::vector<std::string> contents, std::int64_t time = 0,
             std::string role = "user") {
        auto said = append(id, 1, std::move(contents));
        for (auto& message : said.messages) message.role = role;
        ASSERT_TRUE(journal().one(said, at(time)));
    }
    void open(const std::string& id, const std::string& source = "cli", std::string key = {}) {
        auto opened = create(id, source);
        opened.draft.key = std::move(key);
        ASSERT_TRUE(journal().one(opened));
    }
    /// All of it, or a part.
    bool index(std::size_t messages_max = SIZE_MAX, std::size_t bytes_max = SIZE_MAX) {
        return archive_of(store()).index_messages(messages_max, bytes_max).value();
    }
};
INSTANTIATE_TEST_SUITE_P(Stores, Search, ::testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(Search, WhatWasJustSaidIsFoundInTheIndexOrNot) {
    open("a");
    say("a", {"the disk is full", "the disk is fine"});
    EXPECT_THAT(texts("disk full"), ElementsAre("the disk is full"));
    EXPECT_FALSE(index());
    EXPECT_THAT(texts("disk full"), ElementsAre("the disk is full"));
    say("a", {"full again"});
    EXPECT_THAT(texts("full"), ElementsAre("full again", "the disk is full"));
    EXPECT_THAT(texts("empty"), IsEmpty());
    restart();
    EXPECT_THAT(texts("full"), ElementsAre("full again", "the disk is full"));
    EXPECT_FALSE(index());
    restart();
    EXPECT_THAT(texts("full"), ElementsAre("full again", "the disk is full"));
}

TEST_P(Search, TellsWhoSaidItAndWhere) {
    open("a", "gateway", "agent:main");
    ASSERT_TRUE(journal().one(title("a", "A talk")));
    auto said = append("a", 1, {"one", "Grüße aus Łódź"});
    said.messages[1].role = "tool";
    said.messages[1].tool_name = "mail";
    ASSERT_TRUE(journal().one(said, at(7)));
    for (const bool in_index : {false, true}) {
        if (in_index) index();
        const auto page = found(query_for("lodz grus*"));
        ASSERT_EQ(page.messages.size(), 1U);
        const FoundMessage expected{
            .session_id = SessionId("a"),
            .key = "agent:main",
            .source = "gateway",
            .title = "A talk",
            .number = 2,
            .role = "tool",
            .tool_name = "mail",
            .at = at(7).wall,
            .snippet = {.text = "Grüße aus Łódź", .marks = {{0, 5}, {10, 4}}}};
        EXPECT_EQ(page.messages.front(), expected);
        EXPECT_EQ(page.next, std::nullopt);
    }
}

TEST_P(Search, FiltersComeBeforeTheLimit) {
    open("a", "cli", "k");
    open("b", "gateway");
    for (int i = 0; i < 20; ++i) say("b", {"word"}, i, "assistant");
    say("a", {"word of a"}, 30);
    for (int i = 0; i < 20; ++i) say("b", {"word"}, 40 + i, "assistant");
    for (const bool in_index : {false, true}) {
        if (in_index) index();
        auto query = query_for("word");
        query.limit = 1;
        query.source = "cli";
        EXPECT_THAT(texts(query), ElementsAre("word of a"));
        EXPECT_EQ(found(query).next, std::nullopt);
        query.source.clear();
        query.key = "k";
        EXPECT_THAT(texts(query), ElementsAre("word of a"));
        query.key.clear();
        query.role = "user";
        EXPECT_THAT(texts(query), ElementsAre("word of a"));
        query.role.clear();
        query.session_id = SessionId("a");
        EXPECT_THAT(texts(query), ElementsAre("word of a"));
        query.session_id = SessionId("nobody");
        EXPECT_THAT(texts(query), IsEmpty());
        query.session_id = {};
        query.limit = 100;
        query.since = at(30).wall;
        EXPECT_EQ(found(query).messages.size(), 21U);
        query.since = at(31).wall;
        EXPECT_EQ(found(query).messages.size(), 20U);
    }
}

TEST_P(Search, PagesAreOneAfterTheOther) {
    open("a");
    for (int i = 0; i < 7; ++i) {
        say("a", {fmt::format("word{} {}", std::string(static_cast<std::size_t>(i % 3), ' '), i) +
                  (i % 2 == 0 ? " word" : "")});
        if (i == 3) index();
    }
    for (const auto order : {SearchOrder::recent, SearchOrder::best}) {
        for (const std::size_t limit : {1U, 2U, 3U, 7U}) {
            auto query = query_for("word");
            query.order = order;
            const auto all = found(query);
            query.limit = limit;
            std::vector<FoundMessage> paged;
            do {
                const auto page = found(query);
                EXPECT_LE(page.messages.size(), limit);
                paged.insert(paged.end(), page.messages.begin(), page.messages.end());
                query.after = page.next;
            } while (query.after && paged.size() < 20);
            EXPECT_EQ(paged, all.messages);
        }
    }
}

TEST_P(Search, TheBestComeFirstWhereverTheyAre) {
    open("a");
    say("a", {"disk", "disk disk disk in a much longer text about it"});
    index();
    say("a", {"a disk among others", "disk disk disk"});
    auto query = query_for("disk");
    query.order = SearchOrder::best;
    const auto before = texts(query);
    EXPECT_THAT(before,
                ElementsAre("disk disk disk", "disk disk disk in a much longer text about it",
                            "disk", "a disk among others"));
    index();
    EXPECT_EQ(texts(query), before);
}

TEST_P(Search, LooksAtSoMuchForAPageAndGoesOn) {
    open("a");
    say("a", {"needle", "hay word", "hay", "word hay"});
    for (const bool in_index : {false, true}) {
        if (in_index) index();
        auto query = query_for("hay");
        query.candidates_max = 1;
        query.bytes_max = 5;
        std::vector<std::string> all;
        int pages = 0;
        do {
            const auto page = found(query);
            const auto more = texts_of(page);
            all.insert(all.end(), more.begin(), more.end());
            query.after = page.next;
        } while (query.after && ++pages < 20);
        EXPECT_THAT(all, ElementsAre("word hay", "hay", "hay word"));
        query.after.reset();
        query.order = SearchOrder::best;
        EXPECT_TRUE(found(query).is_partial);
        query.candidates_max = query.bytes_max = SIZE_MAX;
        EXPECT_FALSE(found(query).is_partial);
    }
}

TEST_P(Search, WhatABranchTookAlongIsFoundInBoth) {
    open("a");
    say("a", {"word"}, 1);
    ASSERT_TRUE(journal().one(branch("a", 1, "b", /*keep_open=*/true), at(2)));
    for (const bool in_index : {false, true}) {
        if (in_index) index();
        const auto page = found(query_for("word"));
        ASSERT_EQ(page.messages.size(), 2U);
        EXPECT_EQ(page.messages[0].session_id.text(), "b");
        EXPECT_EQ(page.messages[1].session_id.text(), "a");
        EXPECT_EQ(page.messages[0].at, page.messages[1].at);
    }
}

// --- against a naive search ---------------------------------------------------------------------

struct Sentence {
    std::string session;
    std::string role;
    std::string text;
    std::int64_t time = 0;
};

/// The texts that a search of all sentences gives, by looking at each.
std::vector<std::string> search_naively(const std::vector<Sentence>& said,
                                        const SearchQuery& query) {
    struct Hit {
        std::int64_t score;
        std::size_t place;
    };
    std::vector<Hit> hits;
    for (std::size_t place = 0; place < said.size(); ++place) {
        const auto& one = said[place];
        const auto matched = match(query.terms, one.text);
        if (!matched) continue;
        if (!query.role.empty() && one.role != query.role) continue;
        if (!query.session_id.empty() && one.session != query.session_id.text()) continue;
        if (!query.source.empty() && query.source != "source-" + one.session) continue;
        if (query.since && at(one.time).wall < *query.since) continue;
        hits.push_back({query.order == SearchOrder::best ? matched->score : 0, place});
    }
    std::ranges::sort(hits, [](const Hit& one, const Hit& other) {
        return std::tie(one.score, one.place) > std::tie(other.score, other.place);
    });
    std::vector<std::string> texts;
    for (const auto& hit : hits) texts.push_back(said[hit.place].text);
    return texts;
}

std::string a_text() {
    const auto words = *rc::gen::resize(
        12, rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
                "disk", "Disk", "full", "fully", "fu", "é", "e", "東", "京", "10.0", "x_y", "✅")));
    std::string text;
    for (const auto& word : words) text += word + " ";
    return text + "end";
}

SearchQuery a_query() {
    auto query = query_for(*rc::gen::element<std::string>(
        "disk", "disk full", "\"disk full\"", "ful*", "\"disk fu\"*", "e", "東京", "京", "x_y",
        "10", "✅", "fully end", "\"disk disk\"", "nothing", "end"));
    query.order = *rc::gen::element(SearchOrder::recent, SearchOrder::best);
    query.role = *rc::gen::element<std::string>("", "", "user", "tool");
    query.source = *rc::gen::element<std::string>("", "", "", "source-b");
    query.session_id = SessionId(*rc::gen::element<std::string>("", "", "", "a", "nobody"));
    if (*rc::gen::inRange(0, 4) == 0) query.since = at(*rc::gen::inRange(0, 12)).wall;
    query.limit = *rc::gen::inRange<std::size_t>(1, 6);
    if (*rc::gen::inRange(0, 3) == 0) {
        query.candidates_max = *rc::gen::inRange<std::size_t>(1, 5);
        query.bytes_max = *rc::gen::inRange<std::size_t>(1, 100);
    }
    return query;
}

std::vector<std::string> all_pages(Reader& reader, SearchQuery query) {
    std::vector<std::string> texts;
    for (int pages = 0; pages < 200; ++pages) {
        const auto page = archive_of(reader).search(query);
        RC_ASSERT(page.has_value());
        RC_ASSERT(page->messages.size() <= query.limit);
        for (const auto& message : page->messages) texts.push_back(message.snippet.text);
        query.after = page->next;
        if (!page->next) break;
    }
    return texts;
}

RC_GTEST_PROP(SearchProperty, FindsWhatANaiveSearchFinds, ()) {
    const auto kind = *rc::gen::elementOf(store_kinds());
    const auto under_test = kind.make();
    auto journal = std::make_unique<JournalOnStore>(under_test->store());
    for (const auto* id : {"a", "b"}) {
        RC_ASSERT(journal->one(create(id, std::string("source-") + id)).has_value());
    }
    std::vector<Sentence> said;
    for (std::int64_t step = 0; step < *rc::gen::inRange(1, 12); ++step) {
        Sentence one{*rc::gen::element<std::string>("a", "b"),
                     *rc::gen::element<std::string>("user", "tool"), a_text(), step};
        auto message = append(one.session, 1, {one.text});
        message.messages[0].role = one.role;
        RC_ASSERT(journal->one(message, at(step)).has_value());
        said.push_back(std::move(one));
        switch (*rc::gen::inRange(0, 6)) {
            case 0:
                RC_ASSERT(archive_of(under_test->store()).index_messages(2, 60).has_value());
                break;
            case 1:
                RC_ASSERT(archive_of(under_test->store()).index_messages(100, 100'000).has_value());
                break;
            case 2:
                journal.reset();
                under_test->reopen();
                journal = std::make_unique<JournalOnStore>(under_test->store(), at(step));
                break;
            default:
                break;
        }
        const auto reader = *under_test->store().open_reader();
        auto query = a_query();
        // Of the best only those are compared that may be looked at.
        if (query.order == SearchOrder::best) query.candidates_max = query.bytes_max = SIZE_MAX;
        RC_ASSERT(all_pages(*reader, query) == search_naively(said, query));
    }
}

}  // namespace
}  // namespace knell::testing
