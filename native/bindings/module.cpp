// The extension module widemargin._core: one short binding file per header of native/core.
#include "bindings/bind.hpp"

NB_MODULE(_core, m) {
    m.doc() = "Passes over data and text, compiled. Use the names of the widemargin package instead.";
    widemargin::bind_rows(m);  // these two first: the others take them as arguments
    widemargin::bind_losses(m);
    widemargin::bind_block_dual_cd(m);
    widemargin::bind_blocks(m);
    widemargin::bind_chains(m);  // and so do those of chains
    widemargin::bind_chain_labelings(m);
    widemargin::bind_chain_passes(m);
    widemargin::bind_class_rows(m);
    widemargin::bind_cmls(m);
    widemargin::bind_compact(m);
    widemargin::bind_crammer_singer(m);
    widemargin::bind_dual_cd(m);
    widemargin::bind_chain_sgd(m);
    widemargin::bind_exponentiated(m);
    widemargin::bind_frank_wolfe(m);
    widemargin::bind_gram(m);
    widemargin::bind_lasso_cd(m);
    widemargin::bind_line_search(m);
    widemargin::bind_multinomial_dual_cd(m);
    widemargin::bind_newglmnet(m);
    widemargin::bind_one_class(m);
    widemargin::bind_number_text(m);
    widemargin::bind_online(m);
    widemargin::bind_order(m);
    widemargin::bind_passes(m);
    widemargin::bind_pegasos(m);
    widemargin::bind_piecewise(m);
    widemargin::bind_primal_cd(m);
    widemargin::bind_quadratic(m);
    widemargin::bind_ray(m);
    widemargin::bind_sgd(m);
    widemargin::bind_sgd_qn(m);
    widemargin::bind_side_by_side(m);
    widemargin::bind_span(m);
    widemargin::bind_svmlight(m);
    widemargin::bind_svmlight_labels(m);
    widemargin::bind_take_rows(m);
    widemargin::bind_vectors(m);
}
