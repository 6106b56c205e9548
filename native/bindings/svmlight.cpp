// LIBSVM text in, arrays out.
#include "bind.hpp"

namespace widemargin {

void bind_svmlight(nb::module_&) {}

}  // namespace widemargin
