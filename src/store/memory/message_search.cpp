#include "store/memory/message_search.hpp"

#include <functional>
#include <map>

#include "store/search_hits.hpp"

namespace knell {

namespace {

struct Candidate {
    const Session* session = nullptr;
    const Said* said = nullptr;
    std::int64_t number = 0;
};
using Candidates = std::map<std::int64_t, Candidate, std::greater<>>;

bool is_meant(const Session& session, const SearchQuery& query) {
    if (!query.session_id.empty() && session.id != query.session_id) return false;
    if (!query.source.empty() && session.source != query.source) return false;
    return query.key.empty() || session.key == query.key;
}

bool is_meant(const Said& said, const SearchQuery& query) {
    if (!query.role.empty() && said.message.role != query.role) return false;
    return !query.since || said.at >= *query.since;
}

Candidates candidates_of(const Tables& tables, const SearchQuery& query) {
    Candidates candidates;
    for (const auto& [ordinal, all] : tables.messages) {
        const auto session = tables.sessions.find(ordinal);
        if (session == tables.sessions.end() || !is_meant(session->second, query)) continue;
        std::int64_t number = 0;
        for (const auto& said : all) {
            ++number;
            if (is_meant(said, query)) candidates[said.doc] = {&session->second, &said, number};
        }
    }
    return candidates;
}

FoundMessage found(const Candidate& candidate, const SearchTerms& terms) {
    const auto& [session, said, number] = candidate;
    const auto& content = said->message.content;
    const auto matched = match(terms, content);
    return {.session_id = session->id,
            .key = session->key,
            .source = session->source,
            .title = session->title,
            .number = number,
            .role = said->message.role,
            .tool_name = said->message.tool_name,
            .at = said->at,
            .snippet = make_snippet(content, matched->spans)};
}

}  // namespace

SearchPage search_messages(const Tables& tables, const SearchQuery& query) {
    const auto candidates = candidates_of(tables, query);
    SearchHits hits(query);
    for (auto one = candidates.upper_bound(hits.before()); one != candidates.end(); ++one) {
        const auto& content = one->second.said->message.content;
        if (!hits.may_look_at(one->first, content.size())) break;
        const auto matched = match(query.terms, content);
        if (matched && !hits.add({one->first, matched->score})) break;
    }
    auto chosen = hits.choose();
    SearchPage page{.messages = {}, .next = chosen.next, .is_partial = chosen.is_partial};
    for (const auto& hit : chosen.hits) {
        page.messages.push_back(found(candidates.at(hit.doc), query.terms));
    }
    return page;
}

}  // namespace knell
