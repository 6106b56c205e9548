// Numbers as text and back, for models in LIBLINEAR's format.
#include <stdexcept>
#include <string>

#include "bindings/bind.hpp"
#include "core/text/svmlight_number.hpp"
#include "core/text/svmlight_write.hpp"

namespace widemargin {
namespace {

// Numbers between blanks and line ends into `out`; whether there were exactly so many, all of them finite.
bool fill_numbers(Array<const std::uint8_t> text, Array<double> out) {
    const char* p = reinterpret_cast<const char*>(text.data());
    const char* const end = p + text.size();
    const auto skip = [&] {
        while (p < end && (*p == ' ' || (*p >= '\t' && *p <= '\r'))) ++p;
    };
    const nb::gil_scoped_release released;
    for (std::size_t i = 0; i < out.size(); ++i) {
        skip();
        p = svmlight::read_number(p, end, out.data()[i]);
        if (!p || (p < end && !svmlight::ends_token(*p))) return false;
    }
    skip();
    return p == end;
}

// Lines of so many numbers each, in the fewest digits that read back as the same bits, a blank behind each.
nb::bytes format_numbers(Array<const double> values, std::size_t per_line) {
    if (per_line == 0 || values.size() % per_line != 0)
        throw std::invalid_argument("the numbers must fill whole lines");
    std::string text;
    {
        const nb::gil_scoped_release released;
        text.reserve(values.size() * 22);
        for (std::size_t i = 0; i < values.size(); ++i) {
            svmlight::append_number(text, values.data()[i]);
            text += ' ';
            if ((i + 1) % per_line == 0) text += '\n';
        }
    }
    return nb::bytes(text.data(), text.size());
}

}  // namespace

void bind_number_text(nb::module_& m) {
    m.def("fill_numbers", &fill_numbers, nb::arg("text"), nb::arg("out").noconvert(),
          "Reads numbers; whether the text held exactly as many as `out` takes, all of them finite");
    m.def("format_numbers", &format_numbers, nb::arg("values"), nb::arg("per_line"));
}

}  // namespace widemargin
