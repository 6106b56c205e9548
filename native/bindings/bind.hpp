// What every binding file shares: array types and the list of the files themselves.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace nb = nanobind;

namespace widemargin {

template <class T>
using Array = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Hands a vector's memory to NumPy without a copy.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return {kept->data(), {kept->size()}, owner};
}

void bind_block_dual_cd(nb::module_&);
void bind_blocks(nb::module_&);
void bind_chain_labelings(nb::module_&);
void bind_chain_passes(nb::module_&);
void bind_chains(nb::module_&);
void bind_class_rows(nb::module_&);
void bind_cmls(nb::module_&);
void bind_compact(nb::module_&);
void bind_crammer_singer(nb::module_&);
void bind_dual_cd(nb::module_&);
void bind_chain_sgd(nb::module_&);
void bind_exponentiated(nb::module_&);
void bind_frank_wolfe(nb::module_&);
void bind_gram(nb::module_&);
void bind_lasso_cd(nb::module_&);
void bind_line_search(nb::module_&);
void bind_losses(nb::module_&);
void bind_multinomial_dual_cd(nb::module_&);
void bind_newglmnet(nb::module_&);
void bind_number_text(nb::module_&);
void bind_one_class(nb::module_&);
void bind_online(nb::module_&);
void bind_order(nb::module_&);
void bind_passes(nb::module_&);
void bind_pegasos(nb::module_&);
void bind_piecewise(nb::module_&);
void bind_primal_cd(nb::module_&);
void bind_quadratic(nb::module_&);
void bind_ray(nb::module_&);
void bind_rows(nb::module_&);
void bind_sgd(nb::module_&);
void bind_sgd_qn(nb::module_&);
void bind_side_by_side(nb::module_&);
void bind_span(nb::module_&);
void bind_svmlight(nb::module_&);
void bind_svmlight_labels(nb::module_&);
void bind_take_rows(nb::module_&);
void bind_vectors(nb::module_&);

}  // namespace widemargin
