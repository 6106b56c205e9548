// Dual coordinate descent over blocks: dual variables and weights of all rows, and the block that is being visited.
#include "core/descent/block_dual_cd.hpp"

#include <memory>
#include <string>
#include <variant>

#include "bindings/rows/row_store.hpp"

namespace widemargin {
namespace {

template <class Rows>
constexpr bool single_allowed = std::is_same_v<typename Rows::Value, float> || std::is_same_v<Rows, UniformRows>;

// The storages of RowStore, as lists of rows.
template <class Storage>
struct TablesOf;
template <class... Rows>
struct TablesOf<std::variant<Rows...>> {
    using type = std::variant<RowTable<Rows>...>;
};
using Tables = TablesOf<RowStore::Storage>::type;

class BlockDual {
  public:
    BlockDual(const LossSpec& loss, Array<In> y, Array<In> C, int64_t n_cols, double intercept_scaling, bool shrinking,
              bool single)
        : loss_(loss),
          y_(y),
          C_(C),
          v_(y.size(), 0.0),
          shrunk_(y.size(), 0),
          scale_squared_(intercept_scaling * intercept_scaling),
          shrinking_{shrinking},
          single_(single) {
        checked(C, int64_t(y.size()), "C");
        if (n_cols < 0) throw std::invalid_argument("the number of columns is negative");
        for (size_t i = 0; i < v_.size(); ++i) n_eligible_ += C.data()[i] > 0;
        if (single_)
            w32_.assign(size_t(n_cols), 0.0f);
        else
            w64_.assign(size_t(n_cols), 0.0);
    }

    void set_dual(Array<In> v) { std::copy_n(checked(v, int64_t(v_.size()), "v"), v_.size(), v_.begin()); }
    void dual(Array<Out> v) const { std::copy(v_.begin(), v_.end(), checked(v, int64_t(v_.size()), "v")); }
    void set_weights(Array<In> w) {
        const double* from = checked(w, n_cols(), "w");
        with_weights([&](auto& kept) { std::copy_n(from, kept.size(), kept.begin()); });
    }
    void weights(Array<Out> w) {
        double* to = checked(w, n_cols(), "w");
        with_weights([&](auto& kept) { std::copy(kept.begin(), kept.end(), to); });
    }
    void add_to_weights(Array<In> d) {
        const double* from = checked(d, n_cols(), "d");
        with_weights([&](auto& kept) {
            for (size_t j = 0; j < kept.size(); ++j) kept[j] += from[j];
        });
    }

    // One byte per row: whether it is left out for now.
    void shrunk(Array<uint8_t> out) const {
        std::copy(shrunk_.begin(), shrunk_.end(), checked(out, int64_t(shrunk_.size()), "out"));
    }
    void set_shrunk(Array<const uint8_t> shrunk) {
        std::copy_n(checked(shrunk, int64_t(shrunk_.size()), "shrunk"), shrunk_.size(), shrunk_.begin());
        n_shrunk_ = std::count(shrunk_.begin(), shrunk_.end(), uint8_t(1));
    }
    void restore() {
        std::fill(shrunk_.begin(), shrunk_.end(), uint8_t(0));
        n_shrunk_ = 0;
        shrinking_.let_all_in();
    }

    void begin_pass() { sums_ = {}; }

    // All rows of these matrices; those of the k-th have the numbers from first[k] on. `neighbours` rows stay together.
    void begin_block(nb::list parts, Array<const int64_t> first, uint64_t seed, uint32_t neighbours) {
        checked(first, int64_t(nb::len(parts)), "first");
        parts_.clear(), first_.assign(first.data(), first.data() + first.size());
        for (nb::handle part : parts) parts_.push_back(nb::cast<const RowStore&>(part));
        check_parts();
        nb::gil_scoped_release release;
        gather_rows();
        gather_variables(seed, neighbours);
    }

    // Whether the visit is complete: then the block is gone.
    bool advance(int64_t rounds, double max_seconds) {
        nb::gil_scoped_release release;
        const bool complete = with_dual_step(loss_, [&](const auto& step) {
            return std::visit([&](const auto& table) { return run(table, step, rounds, max_seconds); }, tables_);
        });
        if (complete) scatter();
        return complete;
    }

    // Decides which rows stay left out. To be called once after each pass.
    void end_pass() {
        dual_value_ += sums_.gained;
        if (shrinking_.enabled && shrinking_.adjust(sums_.inward, sums_.outward, n_shrunk_ == 0)) restore();
    }

    int64_t n_active() const { return n_eligible_ - n_shrunk_; }
    const PassSums& sums() const { return sums_; }

    double intercept_ = 0;
    double dual_value_ = 0;
    Shrinking& shrinking() { return shrinking_; }

  private:
    int64_t n_cols() const { return int64_t(single_ ? w32_.size() : w64_.size()); }

    template <class F>
    void with_weights(F&& f) {
        if (single_)
            f(w32_);
        else
            f(w64_);
    }

    void check_parts() const {
        for (size_t k = 0; k < parts_.size(); ++k) {
            const RowStore& part = parts_[k];
            if (part.n_cols() != n_cols()) throw std::invalid_argument("a block has another number of columns");
            if (first_[k] < 0 || first_[k] > int64_t(v_.size()) - part.n_rows())
                throw std::invalid_argument("a block has rows that the problem has not");
        }
    }

    void gather_rows() {
        for (size_t k = 0; k < parts_.size(); ++k)
            parts_[k].visit([&]<class Rows>(const Rows& X) {
                if (k == 0) tables_ = RowTable<Rows>();
                if (!std::holds_alternative<RowTable<Rows>>(tables_))
                    throw std::invalid_argument("the parts of a block differ in storage");
                std::get<RowTable<Rows>>(tables_).add(X);
            });
    }

    void gather_variables(uint64_t seed, uint32_t neighbours) {
        const size_t n = std::visit([](const auto& table) { return table.size(); }, tables_);
        visit_ = BlockVisit();
        visit_.rows.resize(n);
        visit_.order = Order(Order::Kind::permuted, checked_count(int64_t(n), "rows in a block"), seed, neighbours);
        for_each_row([&](size_t i, size_t number) {
            visit_.rows[i] = {v_[number], 0.0, y_.data()[number], C_.data()[number], 0.0};
            if (!(C_.data()[number] > 0) || shrunk_[number]) visit_.order.exclude(uint32_t(i));
        });
    }

    void scatter() {
        for_each_row([&](size_t i, size_t number) {
            v_[number] = visit_.rows[i].v;
            if (!visit_.order.dropped(uint32_t(i)) || shrunk_[number] || !(C_.data()[number] > 0)) return;
            shrunk_[number] = 1;
            ++n_shrunk_;
        });
        parts_.clear(), first_.clear();
        std::visit([]<class Table>(Table& table) { table = Table(); }, tables_);
        visit_ = BlockVisit();
    }

    // Calls f(row of the block, row of the problem).
    template <class F>
    void for_each_row(F&& f) {
        size_t i = 0;
        for (size_t k = 0; k < parts_.size(); ++k)
            for (int64_t local = 0; local < parts_[k].n_rows(); ++local, ++i) f(i, size_t(first_[k] + local));
    }

    template <class Rows, class Step>
    bool run(const RowTable<Rows>& table, const Step& step, int64_t rounds, double max_seconds) {
        if constexpr (single_allowed<Rows>)
            if (single_) return run_with(table, step, w32_, rounds, max_seconds);
        if (single_) throw std::invalid_argument("weights in single precision need rows in single precision");
        return run_with(table, step, w64_, rounds, max_seconds);
    }
    template <class Table, class Step, class Weight>
    bool run_with(const Table& table, const Step& step, HugeVector<Weight>& w, int64_t rounds, double max_seconds) {
        return BlockDescent<Table, Step, Weight>(table, step, visit_, w, intercept_, scale_squared_, shrinking_, sums_)
            .run(rounds, max_seconds);
    }

    LossSpec loss_;
    Array<In> y_, C_;
    std::vector<double> v_;
    std::vector<uint8_t> shrunk_;
    int64_t n_shrunk_ = 0, n_eligible_ = 0;
    HugeVector<double> w64_;
    HugeVector<float> w32_;
    double scale_squared_;
    Shrinking shrinking_;
    bool single_;
    PassSums sums_;
    std::vector<RowStore> parts_;
    std::vector<int64_t> first_;
    Tables tables_;
    BlockVisit visit_;
};

}  // namespace

void bind_block_dual_cd(nb::module_& m) {
    using nb::arg;
    nb::class_<PassSums>(m, "PassSums")
        .def_ro("steps", &PassSums::steps)
        .def_ro("gap", &PassSums::gap)
        .def_ro("gained", &PassSums::gained)
        .def_ro("inward", &PassSums::inward)
        .def_ro("outward", &PassSums::outward);
    nb::class_<BlockDual>(m, "BlockDualCD", "Dual coordinate descent over blocks: its state and its visits.")
        .def(nb::init<const LossSpec&, Array<In>, Array<In>, int64_t, double, bool, bool>(), arg("loss"), arg("y"),
             arg("C"), arg("n_cols"), arg("intercept_scaling"), arg("shrinking"), arg("single"))
        .def("set_dual", &BlockDual::set_dual, arg("v"))
        .def("dual", &BlockDual::dual, arg("v").noconvert())
        .def("set_weights", &BlockDual::set_weights, arg("w"))
        .def("weights", &BlockDual::weights, arg("w").noconvert())
        .def("add_to_weights", &BlockDual::add_to_weights, arg("d"))
        .def("shrunk", &BlockDual::shrunk, arg("out").noconvert())
        .def("set_shrunk", &BlockDual::set_shrunk, arg("shrunk"))
        .def("restore", &BlockDual::restore)
        .def("begin_pass", &BlockDual::begin_pass)
        .def("begin_block", &BlockDual::begin_block, arg("parts"), arg("first"), arg("seed"), arg("neighbours"))
        .def("advance", &BlockDual::advance, arg("rounds"), arg("max_seconds"))
        .def("end_pass", &BlockDual::end_pass)
        .def_prop_ro("sums", &BlockDual::sums)
        .def_prop_ro("n_active", &BlockDual::n_active)
        .def_prop_rw(
            "thresholds",
            [](BlockDual& self) {
                const Shrinking& s = self.shrinking();
                return nb::make_tuple(s.zero_above, s.bound_above, s.full_violation);
            },
            [](BlockDual& self, nb::tuple t) {
                Shrinking& s = self.shrinking();
                s.zero_above = nb::cast<double>(t[0]);
                s.bound_above = nb::cast<double>(t[1]);
                s.full_violation = nb::cast<double>(t[2]);
            })
        .def_rw("intercept", &BlockDual::intercept_)
        .def_rw("dual_value", &BlockDual::dual_value_);
}

}  // namespace widemargin
