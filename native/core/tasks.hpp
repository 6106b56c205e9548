// Independent tasks on a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace widemargin {

// Calls task(0) ... task(count - 1), each once, on up to n_threads threads (the caller's is one of them). The
// first exception is thrown again here, when every thread has stopped.
template <class Task>
void run_tasks(std::size_t count, std::size_t n_threads, const Task& task) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    const auto work = [&] {
        try {
            for (std::size_t i; (i = next.fetch_add(1)) < count;) task(i);
        } catch (...) {
            next = count;
            const std::lock_guard guard(failure_lock);
            if (!failure) failure = std::current_exception();
        }
    };
    std::vector<std::thread> helpers;
    try {
        for (std::size_t i = 1; i < std::min(n_threads, count); ++i) helpers.emplace_back(work);
    } catch (const std::system_error&) {
        // The system grants no more threads: those that run do all the work.
    }
    work();
    for (auto& helper : helpers) helper.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace widemargin
