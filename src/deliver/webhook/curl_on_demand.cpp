// libcurl, loaded when the first of its functions is called: with what it needs itself it is most
// of the time that a `knell` takes to start, and few of them send a request.  These are the
// functions that we use, under their own names, so whoever calls them needs to know nothing of
// this.

#include <cstdarg>
#include <cstdio>

#include <curl/curl.h>
#include <dlfcn.h>

#include "base/check.hpp"

// Only there to count arguments.
#undef curl_easy_getinfo
#undef curl_easy_setopt
#undef curl_multi_setopt

namespace {

void* library() {
    // Never unloaded: threads of ours are in it until the process ends.
    static void* const loaded = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) std::fprintf(stderr, "knell: libcurl is missing: %s\n", ::dlerror());
    CHECK(loaded != nullptr);
    return loaded;
}

template <typename Function>
Function* find(const char* name) {
    auto* const found = ::dlsym(library(), name);
    CHECK(found != nullptr);
    return reinterpret_cast<Function*>(found);
}

}  // namespace

extern "C" {

void curl_easy_cleanup(CURL* handle) {
    static auto* const real = find<decltype(curl_easy_cleanup)>("curl_easy_cleanup");
    real(handle);
}

CURL* curl_easy_init() {
    static auto* const real = find<decltype(curl_easy_init)>("curl_easy_init");
    return real();
}

const char* curl_easy_strerror(CURLcode code) {
    static auto* const real = find<decltype(curl_easy_strerror)>("curl_easy_strerror");
    return real(code);
}

void curl_free(void* memory) {
    static auto* const real = find<decltype(curl_free)>("curl_free");
    real(memory);
}

time_t curl_getdate(const char* text, const time_t* unused) {
    static auto* const real = find<decltype(curl_getdate)>("curl_getdate");
    return real(text, unused);
}

CURLcode curl_global_init(long flags) {
    static auto* const real = find<decltype(curl_global_init)>("curl_global_init");
    return real(flags);
}

CURLMcode curl_multi_add_handle(CURLM* multi, CURL* handle) {
    static auto* const real = find<decltype(curl_multi_add_handle)>("curl_multi_add_handle");
    return real(multi, handle);
}

CURLMcode curl_multi_cleanup(CURLM* multi) {
    static auto* const real = find<decltype(curl_multi_cleanup)>("curl_multi_cleanup");
    return real(multi);
}

CURLMsg* curl_multi_info_read(CURLM* multi, int* left) {
    static auto* const real = find<decltype(curl_multi_info_read)>("curl_multi_info_read");
    return real(multi, left);
}

CURLM* curl_multi_init() {
    static auto* const real = find<decltype(curl_multi_init)>("curl_multi_init");
    return real();
}

CURLMcode curl_multi_perform(CURLM* multi, int* running) {
    static auto* const real = find<decltype(curl_multi_perform)>("curl_multi_perform");
    return real(multi, running);
}

CURLMcode curl_multi_poll(CURLM* multi, curl_waitfd* more, unsigned int count, int timeout_ms,
                          int* ready) {
    static auto* const real = find<decltype(curl_multi_poll)>("curl_multi_poll");
    return real(multi, more, count, timeout_ms, ready);
}

CURLMcode curl_multi_remove_handle(CURLM* multi, CURL* handle) {
    static auto* const real = find<decltype(curl_multi_remove_handle)>("curl_multi_remove_handle");
    return real(multi, handle);
}

CURLMcode curl_multi_socket_action(CURLM* multi, curl_socket_t socket, int what, int* running) {
    static auto* const real = find<decltype(curl_multi_socket_action)>("curl_multi_socket_action");
    return real(multi, socket, what, running);
}

CURLMcode curl_multi_timeout(CURLM* multi, long* milliseconds) {
    static auto* const real = find<decltype(curl_multi_timeout)>("curl_multi_timeout");
    return real(multi, milliseconds);
}

CURLMcode curl_multi_wakeup(CURLM* multi) {
    static auto* const real = find<decltype(curl_multi_wakeup)>("curl_multi_wakeup");
    return real(multi);
}

curl_slist* curl_slist_append(curl_slist* list, const char* text) {
    static auto* const real = find<decltype(curl_slist_append)>("curl_slist_append");
    return real(list, text);
}

void curl_slist_free_all(curl_slist* list) {
    static auto* const real = find<decltype(curl_slist_free_all)>("curl_slist_free_all");
    real(list);
}

CURLU* curl_url() {
    static auto* const real = find<decltype(curl_url)>("curl_url");
    return real();
}

void curl_url_cleanup(CURLU* url) {
    static auto* const real = find<decltype(curl_url_cleanup)>("curl_url_cleanup");
    real(url);
}

CURLUcode curl_url_get(CURLU* url, CURLUPart what, char** part, unsigned int flags) {
    static auto* const real = find<decltype(curl_url_get)>("curl_url_get");
    return real(url, what, part, flags);
}

CURLUcode curl_url_set(CURLU* url, CURLUPart what, const char* part, unsigned int flags) {
    static auto* const real = find<decltype(curl_url_set)>("curl_url_set");
    return real(url, what, part, flags);
}

const char* curl_url_strerror(CURLUcode code) {
    static auto* const real = find<decltype(curl_url_strerror)>("curl_url_strerror");
    return real(code);
}

// Their second parameter is as curl.h declares it: an enumeration, which is passed as it is.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wvarargs"
#endif

// NOLINTNEXTLINE(cert-dcl50-cpp)
CURLcode curl_easy_setopt(CURL* handle, CURLoption option, ...) {
    static auto* const real = find<decltype(curl_easy_setopt)>("curl_easy_setopt");
    std::va_list values;
    va_start(values, option);
    // A long, a curl_off_t or a pointer: of one size, and passed alike.
    auto* const value = va_arg(values, void*);
    va_end(values);
    return real(handle, option, value);
}

// NOLINTNEXTLINE(cert-dcl50-cpp)
CURLcode curl_easy_getinfo(CURL* handle, CURLINFO option, ...) {
    static auto* const real = find<decltype(curl_easy_getinfo)>("curl_easy_getinfo");
    std::va_list values;
    va_start(values, option);
    // A long, a curl_off_t or a pointer: of one size, and passed alike.
    auto* const value = va_arg(values, void*);
    va_end(values);
    return real(handle, option, value);
}

// NOLINTNEXTLINE(cert-dcl50-cpp)
CURLMcode curl_multi_setopt(CURLM* handle, CURLMoption option, ...) {
    static auto* const real = find<decltype(curl_multi_setopt)>("curl_multi_setopt");
    std::va_list values;
    va_start(values, option);
    // A long, a curl_off_t or a pointer: of one size, and passed alike.
    auto* const value = va_arg(values, void*);
    va_end(values);
    return real(handle, option, value);
}

}  // extern "C"

static_assert(sizeof(long) == sizeof(void*) && sizeof(curl_off_t) == sizeof(void*));
