#include "daemon/read_thread.hpp"

#include <vector>

#include <pthread.h>

namespace knell {

void ReadThread::stop() {
    queue_.close();
    if (thread_.joinable()) thread_.join();
    reader_.reset();
}

void ReadThread::loop() {
    pthread_setname_np(pthread_self(), "knell-reader");
    std::vector<Work> taken;
    while (queue_.pop_all(taken)) {
        for (auto& work : taken) work(*reader_);
    }
}

}  // namespace knell
