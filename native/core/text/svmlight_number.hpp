// Decimal text to floating point, correctly rounded, without ever reading past the end of the text.
#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <locale>
#include <sstream>
#include <string>

namespace widemargin::svmlight {

// Every power of ten that a double holds exactly.
inline constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                           1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr int largest_exact_power = 22;
inline constexpr std::uint64_t largest_exact_integer = std::uint64_t{1} << 53;

inline bool is_digit(char c) {
    return static_cast<unsigned char>(c - '0') < 10;
}

inline bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

inline bool ends_token(char c) {
    return is_blank(c) || c == '\n' || c == '#';
}

inline bool narrow(double value, double& result) {
    result = value;
    return true;
}

// Rounding twice, to double and then to float, errs only when the double lies exactly between two floats.
inline bool narrow(double value, float& result) {
    constexpr std::uint64_t dropped = (std::uint64_t{1} << 29) - 1;
    constexpr std::uint64_t halfway = std::uint64_t{1} << 28;
    const double size = value < 0 ? -value : value;
    const bool normal = size >= std::numeric_limits<float>::min() && size <= std::numeric_limits<float>::max();
    result = normal ? static_cast<float>(value) : 0.0f;
    return size == 0 || (normal && (std::bit_cast<std::uint64_t>(value) & dropped) != halfway);
}

// mantissa * 10^exponent when one rounding of exact operands gives it (Clinger 1990); false otherwise.
template <class T>
bool scale_exactly(std::uint64_t mantissa, std::int64_t exponent, T& result) {
    if (mantissa > largest_exact_integer || exponent < -largest_exact_power || exponent > largest_exact_power)
        return false;
    const auto exact = static_cast<double>(mantissa);
    return narrow(exponent < 0 ? exact / powers_of_ten[-exponent] : exact * powers_of_ten[exponent], result);
}

// The text of one number, taken apart: mantissa * 10^exponent, with digits beyond the nineteenth only
// counted.
struct Decimal {
    std::uint64_t mantissa = 0;
    std::int64_t exponent = 0;
    bool any_digit = false;
    bool complete = true;

    void take(char c, bool fraction) {
        constexpr std::uint64_t full = 1'000'000'000'000'000'000;
        any_digit = true;
        if (mantissa < full) {
            mantissa = mantissa * 10 + static_cast<std::uint64_t>(c - '0');
            exponent -= fraction;
        } else {
            complete = false;
            exponent += !fraction;
        }
    }
};

// Reads "e-05" and the like. A lone "e" is left where it is, and so ends up as a malformed token.
inline const char* read_exponent(const char* p, const char* end, std::int64_t& exponent) {
    constexpr std::int64_t saturated = 1'000'000'000'000'000;
    const char* q = p + 1;
    const bool negative = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+')) ++q;
    if (q == end || !is_digit(*q)) return p;
    std::int64_t power = 0;
    for (; q < end && is_digit(*q); ++q)
        if (power < saturated) power = power * 10 + (*q - '0');
    exponent += negative ? -power : power;
    return q;
}

inline const char* read_decimal(const char* p, const char* end, Decimal& decimal) {
    for (; p < end && is_digit(*p); ++p) decimal.take(*p, false);
    if (p < end && *p == '.')
        for (++p; p < end && is_digit(*p); ++p) decimal.take(*p, true);
    if (decimal.any_digit && p < end && (*p == 'e' || *p == 'E')) p = read_exponent(p, end, decimal.exponent);
    return p;
}

// The standard library's conversion of text already known to be a plain decimal number. False: out of range.
template <class T>
bool convert_any(const char* p, const char* end, T& result) {
#if defined(__cpp_lib_to_chars)
    return std::from_chars(p, end, result).ec == std::errc{} && result <= std::numeric_limits<T>::max();
#else
    std::istringstream stream(std::string(p, end));
    stream.imbue(std::locale::classic());
    return static_cast<bool>(stream >> result);
#endif
}

// Reads a finite number and returns where it ends, or nullptr: not a number, or too large for T. What is too
// small for T becomes zero, as everywhere else.
template <class T>
const char* read_number(const char* p, const char* end, T& result) {
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) ++p;
    Decimal decimal;
    const char* stop = read_decimal(p, end, decimal);
    if (!decimal.any_digit) return nullptr;
    T size = 0;
    if (decimal.mantissa != 0 && !(decimal.complete && scale_exactly(decimal.mantissa, decimal.exponent, size)) &&
        !convert_any(p, stop, size)) {
        if (decimal.exponent > -20) return nullptr;
        size = 0;
    }
    result = negative ? -size : size;
    return stop;
}

// The fast path: eight bytes at a time, for text with at least `window` readable bytes.
inline constexpr std::ptrdiff_t window = 40;
inline constexpr std::uint32_t integer_powers[] = {1,       10,        100,        1'000,      10'000,
                                                   100'000, 1'000'000, 10'000'000, 100'000'000};

struct Digits {
    std::uint64_t bytes;  // each byte of the text, xor '0': a digit is its own value
    int count;            // leading digits, 0 to 8
};

inline Digits load_digits(const char* p) {
    std::uint64_t bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    bytes ^= 0x3030303030303030u;
    // A byte above 9 reaches its top bit; carries only run upwards, behind the first byte that is no digit.
    const std::uint64_t others = ((bytes + 0x7676767676767676u) | bytes) & 0x8080808080808080u;
    return {bytes, std::countr_zero(others) >> 3};
}

// The value of the leading digits (at least one): pairs, then fours, then all eight, in three
// multiplications.
inline std::uint32_t digits_value(Digits digits) {
    std::uint64_t v = digits.bytes << (64 - 8 * digits.count);
    v = v * 10 + (v >> 8);
    v = (v & 0x000000FF000000FFu) * 0x000F424000000064u + ((v >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u;
    return static_cast<std::uint32_t>(v >> 32);
}

// Reads "index:value" of the usual shapes, and returns where it ends; nullptr leaves the case to the slow
// path.
template <class T>
inline const char* read_entry_fast(const char* p, std::int32_t& index, T& value) {
    if constexpr (std::endian::native != std::endian::little) return nullptr;
    const Digits head = load_digits(p);
    if (head.count == 0 || head.count == 8 || p[head.count] != ':') return nullptr;
    index = static_cast<std::int32_t>(digits_value(head));
    p += head.count + 1;
    const bool negative = *p == '-';
    p += negative;
    std::uint64_t mantissa;
    if (is_digit(*p) && !is_digit(p[1])) {  // "1" and "0.5": a predicted branch is faster than counting digits
        mantissa = static_cast<std::uint64_t>(*p++ - '0');
    } else {
        const Digits whole = load_digits(p);
        if (whole.count == 0 || whole.count == 8) return nullptr;
        mantissa = digits_value(whole);
        p += whole.count;
    }
    T size;
    if (*p == '.') {
        Digits part = load_digits(++p);
        if (part.count == 0) return nullptr;
        mantissa = mantissa * integer_powers[part.count] + digits_value(part);
        p += part.count;
        int places = part.count;
        if (places == 8) {
            part = load_digits(p);
            if (part.count == 8 || mantissa >= 1'000'000'000'000) return nullptr;
            if (part.count != 0) mantissa = mantissa * integer_powers[part.count] + digits_value(part);
            p += part.count;
            places += part.count;
        }
        if (!scale_exactly(mantissa, -places, size)) return nullptr;
    } else {
        size = static_cast<T>(mantissa);
    }
    if (!ends_token(*p)) return nullptr;
    value = negative ? -size : size;
    return p;
}

}  // namespace widemargin::svmlight
