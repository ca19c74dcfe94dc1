// Vectors of eight points, in single and double precision, and the functions of them that chains need.
// No library is called.

#define POINTS 8
#define BOTH (2 * POINTS)  // two cells at eight points each are computed together
#define MOST 64            // predictors of a cell, at most

typedef float eight __attribute__((vector_size(4 * POINTS), aligned(4)));
typedef float single __attribute__((vector_size(4 * BOTH)));
typedef int whole __attribute__((vector_size(4 * BOTH)));
typedef double dbl __attribute__((vector_size(8 * POINTS), aligned(8)));
typedef long long wide __attribute__((vector_size(8 * POINTS), aligned(8)));

#if defined(_WIN32)
#define SHOWN __declspec(dllexport)
#else
#define SHOWN __attribute__((visibility("default")))
#endif

static inline eight in_eight(float x) { return (eight){x, x, x, x, x, x, x, x}; }
static inline single joined(eight a, eight b) {
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
static inline eight one_of(single x) { return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7); }
static inline eight other_of(single x) { return __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15); }
static inline single all(float x) { return joined(in_eight(x), in_eight(x)); }
static inline single greater(single a, single b) { return __builtin_elementwise_max(a, b); }
static inline single lesser(single a, single b) { return __builtin_elementwise_min(a, b); }
static inline single within(single x, float far) { return lesser(greater(x, all(-far)), all(far)); }
static inline single size_of(single x) { return (single)((whole)x & 0x7fffffff); }
static inline single either(whole which, single a, single b) {
  return (single)(((whole)a & which) | ((whole)b & ~which));
}

// exp by x = n log 2 + f, |f| <= log(2) / 2, and Taylor's polynomial of f; x is limited to -87 to 87
static inline single exp_of(single x) {
  x = within(x, 87.0f);
  single scaled = x * 1.44269504f;
  whole n = __builtin_convertvector(scaled + either(scaled > 0.0f, all(0.5f), all(-0.5f)), whole);
  single number = __builtin_convertvector(n, single);
  single f = (x - number * 0.693359375f) + number * 2.12194440e-4f;
  single p = 1.0f + f * (1.0f + f * (0.5f + f * (1.66666667e-1f + f * (4.16666667e-2f + f * (8.33333333e-3f +
             f * (1.38888889e-3f + f * 1.98412698e-4f))))));
  return p * (single)((n + 127) << 23);
}

// log by x = (1 + t) 2^e, sqrt(1/2) <= 1 + t < sqrt(2), and log(1 + t) = t - t^2 / 2 + t^3 p(t), p fitted by Chebyshev's
// polynomials
static inline single log_of(single x) {
  whole bits = (whole)x, e = ((bits >> 23) & 255) - 127;
  single m = (single)((bits & 0x007fffff) | 0x3f800000);
  whole large = m > 1.41421356f;
  single t = either(large, m * 0.5f, m) - 1.0f;
  single number = __builtin_convertvector(e - large, single);
  single p = 0.333333286f + t * (-0.250002965f + t * (0.200014686f + t * (-0.166422476f + t * (0.142021738f +
             t * (-0.12972239f + t * (0.127123077f - t * 0.0810155833f))))));
  return (number * -2.12194440e-4f + (t * t * (t * p - 0.5f) + t)) + number * 0.693359375f;
}

// 1 - exp(-x) of x >= 0, without loss near 0
static inline single below_one(single x) {
  single small = x * (1.0f - x * (0.5f - x * (1.66666667e-1f - x * (4.16666667e-2f - x * 8.33333333e-3f))));
  return either(x < 0.2f, small, 1.0f - exp_of(-x));
}

static inline dbl in_double(double x) { return (dbl){x, x, x, x, x, x, x, x}; }
static inline dbl chosen(wide which, dbl a, dbl b) { return (dbl)(((wide)a & which) | ((wide)b & ~which)); }

// Split x into m 2^e, 1 <= m < 2: return m, and add e to `exponent`.
static inline dbl mantissa_of(dbl x, wide *exponent) {
  wide bits = (wide)x;
  *exponent += ((bits >> 52) & 2047) - 1023;
  return (dbl)((bits & 0xfffffffffffffLL) | 0x3ff0000000000000LL);
}

// log of 1 <= x < 2 by the series of artanh((x - 1) / (x + 1)), to 1e-12
static inline dbl log_of_mantissa(dbl x) {
  dbl r = (x - 1.0) / (x + 1.0), square = r * r, sum = {0};
  for (int k = 23; k > 0; k -= 2) sum = sum * square + 2.0 / k;
  return sum * r;
}

static inline dbl double_log(dbl x) {
  wide exponent = {0};
  dbl mantissa = mantissa_of(x, &exponent);
  return log_of_mantissa(mantissa) + __builtin_convertvector(exponent, dbl) * 0.69314718055994531;
}

// As exp_of, to 1e-15; x is limited to -700 to 700
static inline dbl double_exp(dbl x) {
  x = __builtin_elementwise_min(__builtin_elementwise_max(x, in_double(-700.0)), in_double(700.0));
  dbl scaled = x * 1.4426950408889634;
  wide n = __builtin_convertvector(scaled + chosen(scaled > 0.0, in_double(0.5), in_double(-0.5)), wide);
  dbl number = __builtin_convertvector(n, dbl);
  dbl f = (x - number * 0.693145751953125) - number * 1.4286068203094173e-6, p = in_double(1.0);
  for (int k = 13; k > 0; k--) p = 1.0 + p * f * (1.0 / k);
  return p * (dbl)((n + 1023) << 52);
}

// exp(x^2) erfc(x) of x >= 0, by Chebyshev's polynomials of (x - 3.75) / (x + 3.75) (Shepherd and Laframboise 1981,
// Mathematics of Computation 36) fitted to 4e-15
static inline dbl scaled_erfc(dbl x) {
  static const double c[] = {1.1775789345674017, -0.0045900545806464924, -0.084249133366517875, 0.059209939998191935,
                             -0.026658668435305854, 0.0090749976707051715, -0.0024131635404179039, 0.00049077583652573317,
                             -6.9169733025251326e-05, 4.1390279858627571e-06, 7.7403830638243057e-07, -2.1886401048096403e-07,
                             1.0764999018658571e-08, 4.5219598243222743e-09, -7.754400465712195e-10, -6.3180997605905322e-11,
                             2.8687948982109012e-11, 1.9453420328011139e-13, -9.6628233858529018e-13, 3.24728372641042e-14,
                             3.3020418325651041e-14};
  dbl t = (x - 3.75) / (x + 3.75), one = {0}, two = {0};
  for (int k = 20; k > 0; k--) {
    dbl next = c[k] + 2.0 * t * one - two;
    two = one;
    one = next;
  }
  return (c[0] + t * one - two) / (1.0 + 2.0 * x);
}
