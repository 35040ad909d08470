#include "daemon/read_thread.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

namespace knell {

void ReadThread::stop() {
    stopping_ = true;
    queue_.close();
    if (thread_.joinable()) thread_.join();
    reader_.reset();
}

void ReadThread::loop() {
    pthread_setname_np(pthread_self(), name_);
    // On Linux a niceness belongs to the thread, whatever POSIX says.
    if (niceness_ > 0) setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), niceness_);
    while (auto read = queue_.pop()) read->run(*reader_);
}

}  // namespace knell
