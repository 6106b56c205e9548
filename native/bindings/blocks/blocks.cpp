// Chunks of rows as bytes, and back: what files of blocks are made of.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <string>

#include "bindings/rows/row_store.hpp"
#include "core/blocks/checksum.hpp"
#include "core/blocks/chunk.hpp"

namespace widemargin {
namespace {

using namespace blocks;
using ByteArray = Array<const uint8_t>;

View view_of(const ByteArray& bytes) {
    return {bytes.data(), bytes.size()};
}

nb::bytes to_python(const Bytes& bytes) {
    return nb::bytes(bytes.data(), bytes.size());
}

template <class T>
nb::tuple encode(Array<const int64_t> indptr, Array<const int32_t> indices, Array<const T> values) {
    if (indptr.size() < 1 || int64_t(values.size()) > most_entries || indices.size() != values.size())
        throw std::invalid_argument("a chunk has at most " + std::to_string(most_entries) +
                                    " entries, a column and a value each");
    Bytes out;
    bool alike = false;
    {
        nb::gil_scoped_release release;
        const auto n_rows = int64_t(indptr.size()) - 1;
        check_row_pointers(indptr.data(), n_rows, int64_t(indices.size()), by_rows);
        if (indptr.data()[n_rows] != int64_t(indices.size())) reject("indptr ends before the entries do");
        alike = encode_rows<T>(
            {{indptr.data(), indptr.size()}, {indices.data(), indices.size()}, {values.data(), values.size()}}, out);
    }
    return nb::make_tuple(to_python(out), alike);
}

nb::bytes encode_doubles(Array<In> numbers) {
    Bytes out;
    {
        nb::gil_scoped_release release;
        encode_numbers<double>({numbers.data(), numbers.size()}, out);
    }
    return to_python(out);
}

void decode_doubles(ByteArray bytes, Array<Out> numbers) {
    nb::gil_scoped_release release;
    Reader in(view_of(bytes));
    Scratch scratch;
    decode_numbers(in, numbers.data(), numbers.size(), scratch);
    in.expect_end();
}

uint64_t checksum(ByteArray bytes) {
    nb::gil_scoped_release release;
    return XXH64::of(view_of(bytes));
}

Form form_of(const std::string& name) {
    if (name == "sparse") return Form::sparse;
    if (name == "uniform") return Form::uniform;
    if (name == "dense") return Form::dense;
    throw std::invalid_argument("unknown form of rows '" + name + "': use sparse, uniform or dense");
}

// Decodes the chunks of one file, each into memory that earlier ones gave back. One call at a time.
class ChunkDecoder {
  public:
    ChunkDecoder(int64_t columns, const std::string& form, bool single)
        : columns_(columns), form_(form_of(form)), single_(single) {}

    RowStore decode(ByteArray bytes, int64_t rows, int64_t entries) {
        const Counts counts{rows, entries, columns_};
        nb::gil_scoped_release release;
        return single_ ? decoded<float>(view_of(bytes), counts) : decoded<double>(view_of(bytes), counts);
    }
    void clear() { pool_->clear(); }

  private:
    template <class T>
    RowStore decoded(View bytes, const Counts& counts) {
        const DecodedRows<T> found = RowsDecoder<T>(bytes, counts, form_, *pool_, scratch_).decode();
        std::vector<std::any> owners{found.indptr_memory, found.indices_memory, found.values_memory};
        if (form_ == Form::dense)
            return {DenseRows<T>{counts.rows, columns_, found.values, columns_}, {found.values_memory}, true};
        if (form_ == Form::uniform)
            return {UniformRows{counts.rows, columns_, found.indptr, found.indices, found.row_values}, owners, true};
        return {SparseRows<T>{counts.rows, columns_, found.indptr, found.indices, found.values}, owners, true};
    }

    int64_t columns_;
    Form form_;
    bool single_;
    std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
    Scratch scratch_;
};

}  // namespace

void bind_blocks(nb::module_& m) {
    using nb::arg;
    m.def("encode_rows", &encode<float>, arg("indptr"), arg("indices"), arg("values"));
    m.def("encode_rows", &encode<double>, arg("indptr"), arg("indices"), arg("values"),
          "The rows as bytes, and whether the values of each row are all alike.");
    m.def("encode_numbers", &encode_doubles, arg("numbers"));
    m.def("decode_numbers", &decode_doubles, arg("bytes"), arg("numbers").noconvert());
    m.def("checksum", &checksum, arg("bytes"), "XXH64 of the bytes.");
    nb::class_<ChunkDecoder>(m, "ChunkDecoder", "Chunks of one file as rows; one call at a time.")
        .def(nb::init<int64_t, const std::string&, bool>(), arg("columns"), arg("form"), arg("single"))
        .def("decode", &ChunkDecoder::decode, arg("bytes"), arg("rows"), arg("entries"))
        .def("clear", &ChunkDecoder::clear, "Frees the memory that no chunk uses.");
}

}  // namespace widemargin
