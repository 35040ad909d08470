#include "store/sqlite/fts_words.hpp"

#include <string_view>
#include <vector>

#include <sqlite3.h>

#include "core/search_terms.hpp"
#include "core/words.hpp"

namespace knell::sqlite {

namespace {

/// There is nothing to keep of a tokenizer, but SQLite wants something to point to.
int make_tokenizer(void* /*context*/, const char** /*arguments*/, int /*count*/,
                   Fts5Tokenizer** made) {
    static char only = 0;
    *made = reinterpret_cast<Fts5Tokenizer*>(&only);  // NOLINT: opaque to SQLite
    return SQLITE_OK;
}
void forget_tokenizer(Fts5Tokenizer* /*tokenizer*/) {}

int take_apart(Fts5Tokenizer* /*tokenizer*/, void* context, int /*why*/, const char* text,
               int bytes, int (*give)(void*, int, const char*, int, int, int)) {
    if (text == nullptr) return SQLITE_OK;
    WordReader reader({text, static_cast<std::size_t>(bytes)});
    for (Word word; reader.next(word);) {
        const auto status =
            give(context, /*flags=*/0, word.folded.data(), static_cast<int>(word.folded.size()),
                 static_cast<int>(word.begin), static_cast<int>(word.end));
        if (status != SQLITE_OK) return status;
    }
    return SQLITE_OK;
}

int count_instances(const Fts5ExtensionApi* api, Fts5Context* context,
                    std::vector<std::int64_t>& times) {
    int count = 0;
    if (const auto status = api->xInstCount(context, &count); status != SQLITE_OK) return status;
    for (int i = 0; i < count; ++i) {
        int phrase = 0;
        int column = 0;
        int offset = 0;
        const auto status = api->xInst(context, i, &phrase, &column, &offset);
        if (status != SQLITE_OK) return status;
        ++times.at(static_cast<std::size_t>(phrase));
    }
    return SQLITE_OK;
}

void score(const Fts5ExtensionApi* api, Fts5Context* context, sqlite3_context* result,
           int /*count*/, sqlite3_value** /*arguments*/) {
    int words = 0;
    std::vector<std::int64_t> times(static_cast<std::size_t>(api->xPhraseCount(context)));
    auto status = api->xColumnSize(context, /*iCol=*/0, &words);
    if (status == SQLITE_OK) status = count_instances(api, context, times);
    if (status != SQLITE_OK) return sqlite3_result_error_code(result, status);
    SearchScore total(words);
    for (const auto one : times) total.add_phrase(one);
    sqlite3_result_int64(result, total.value());
}

/// Null: this SQLite has no FTS5.
fts5_api* find_api(sqlite3* connection) {
    fts5_api* api = nullptr;
    sqlite3_stmt* select = nullptr;
    if (sqlite3_prepare_v2(connection, "SELECT fts5(?1)", -1, &select, nullptr) != SQLITE_OK) {
        return nullptr;
    }
    sqlite3_bind_pointer(select, 1, static_cast<void*>(&api), "fts5_api_ptr", nullptr);
    sqlite3_step(select);
    sqlite3_finalize(select);
    return api;
}

}  // namespace

int add_search_functions(sqlite3* connection) {
    auto* api = find_api(connection);
    if (api == nullptr) return SQLITE_ERROR;
    void* context = nullptr;
    fts5_tokenizer tokenizer{};
    if (api->xFindTokenizer(api, "knell", &context, &tokenizer) == SQLITE_OK) return SQLITE_OK;
    tokenizer = {make_tokenizer, forget_tokenizer, take_apart};
    const auto status = api->xCreateTokenizer(api, "knell", nullptr, &tokenizer, nullptr);
    if (status != SQLITE_OK) return status;
    return api->xCreateFunction(api, "knell_score", nullptr, score, nullptr);
}

}  // namespace knell::sqlite
