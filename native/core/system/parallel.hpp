// Threads over a fixed number of independent pieces of work. The pieces never depend on the number of threads, so
// neither does the result.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace widemargin {

// Calls work(piece) for every piece in [0, n_pieces), on up to n_threads threads. The first exception is passed on.
template <class Work>
void parallel_for(int64_t n_pieces, int n_threads, Work&& work) {
    if (n_threads <= 1 || n_pieces <= 1) {
        for (int64_t piece = 0; piece < n_pieces; ++piece) work(piece);
        return;
    }
    std::atomic<int64_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    auto run = [&] {
        try {
            for (int64_t piece; (piece = next.fetch_add(1)) < n_pieces;) work(piece);
        } catch (...) {
            const std::lock_guard lock(failure_lock);
            if (!failure) failure = std::current_exception();
            next = n_pieces;
        }
    };
    std::vector<std::jthread> threads;
    try {
        for (int64_t t = 1; t < n_threads && t < n_pieces; ++t) threads.emplace_back(run);
    } catch (const std::system_error&) {
        // The system grants no more threads: those that run do all the work.
    }
    run();
    threads.clear();  // joins
    if (failure) std::rethrow_exception(failure);
}

}  // namespace widemargin
