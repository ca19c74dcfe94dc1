// Answers of cells, and coordinates of latent values, at eight points side by side.
//
// Arrays of latent values are [value][point]: what is done for one point is done for all eight by the same instructions.
// Answers are computed in single precision, each cell rounded by some 1e-7 of what it says, and summed in double;
// coordinates in double. The formulas are those of voirdire.model.family and voirdire.infer.nested.coordinates, which
// tests compare. Nothing is allocated, and no library is called.

#define POINTS 8
#define BOTH (2 * POINTS)  // two cells at eight points each are computed together
#define MOST 64            // predictors of a cell

typedef float eight __attribute__((vector_size(4 * POINTS), aligned(4)));
typedef float single __attribute__((vector_size(4 * BOTH)));
typedef int whole __attribute__((vector_size(4 * BOTH)));
typedef double dbl __attribute__((vector_size(8 * POINTS), aligned(8)));
typedef long long wide __attribute__((vector_size(8 * POINTS), aligned(8)));

#if defined(_WIN32)
#define SHOWN __declspec(dllexport)
int _fltused = 1;  // what libraries there must have
int __stdcall DllMainCRTStartup(void *library, unsigned reason, void *reserved) { return 1; }
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

// exp by x = n log 2 + f, |f| <= log(2) / 2, and Taylor's polynomial of f; below -87 it is exp(-87), above 87 exp(87)
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

// What is needed of x: exp(-|x|), the logistic function of |x| and of x, and of -x.
struct logistic {
  single small, near, above, below;
};
static inline struct logistic logistic_of(single x) {
  single small = exp_of(-size_of(x)), near = 1.0f / (1.0f + small), far = small * near;
  whole up = x > 0.0f;
  return (struct logistic){small, near, either(up, near, far), either(up, far, near)};
}

// Ties, of what a judge perceives and log nu: log likelihood, slopes by both. As voirdire.model.family.two_coin_gradient.
static inline single tied_of(single seen, struct logistic at, single log_nu, single tied, single untied,
                             single *by_seen, single *by_nu) {
  single u = 0.5f * size_of(seen) - log_of(at.near) - log_nu;
  struct logistic of = logistic_of(u);  // P(tie) is of.below
  single log_tie = log_of(of.near) - greater(u, all(0.0f));
  single surplus = tied - (tied + untied) * of.below;
  *by_seen = -0.5f * (at.above - at.below) * surplus;
  *by_nu = surplus;
  return tied * log_tie + untied * (log_tie + u);
}

static inline single two_coin(int predictors, const single *eta, const single *count, single *slope) {
  single d = within(eta[0], 40.0f);
  struct logistic at = logistic_of(d), one = logistic_of(within(eta[1], 40.0f)), two = logistic_of(within(eta[2], 40.0f));
  single first = one.above * at.above + two.below * at.below, second = one.below * at.above + two.above * at.below;
  single value = count[0] * log_of(first) + count[1] * log_of(second);
  single pull = (count[0] * second - count[1] * first) / (first * second);
  slope[0] = at.above * at.below * (one.above * two.above - one.below * two.below) * pull;
  slope[1] = one.above * one.below * at.above * pull;
  slope[2] = -two.above * two.below * at.below * pull;
  if (predictors > 3) {
    single more;
    value += tied_of(eta[0], at, eta[3], count[2], count[3], &more, &slope[3]);
    slope[0] += more;
  }
  return value;
}

static inline single sharpness(int predictors, const single *eta, const single *count, single *slope) {
  single sharp = exp_of(eta[1]), seen = sharp * eta[0], w = seen + eta[2];
  struct logistic at = logistic_of(w);
  single kept = log_of(at.near);
  single value = count[0] * (lesser(w, all(0.0f)) + kept) + count[1] * (lesser(-w, all(0.0f)) + kept);
  single pull = count[0] * at.below - count[1] * at.above, by_seen = pull;
  if (predictors > 3) {
    single more;
    value += tied_of(seen, logistic_of(seen), eta[3], count[2], count[3], &more, &slope[3]);
    by_seen += more;
  }
  slope[0] = sharp * by_seen;
  slope[1] = seen * by_seen;
  slope[2] = pull;
  return value;
}

static inline int none(single x) {
  for (int i = 0; i < BOTH; i += POINTS)
    if (x[i] != 0.0f) return 0;
  return 1;
}

static inline single ordinal(int predictors, const single *eta, const single *count, single *slope) {
  single gap[MOST], by_cut[MOST], cut = all(0.0f), before = all(0.0f), value = all(0.0f), total = all(0.0f);
  int gaps = predictors - 1;  // cutpoints 0 to gaps
  for (int j = 0; j < gaps; j++) {
    gap[j] = exp_of(eta[1 + j]);
    cut -= 0.5f * gap[j];
  }
  for (int l = 0; l <= gaps; l++) {  // the cutpoint between levels l and l + 1
    if (l) cut += gap[l - 1];
    by_cut[l] = all(0.0f);
    if (none(count[l]) && none(count[l + 1])) continue;
    single x = eta[0] - cut;
    struct logistic at = logistic_of(x);
    single kept = log_of(at.near);
    value += count[l + 1] * (lesser(x, all(0.0f)) + kept) + count[l] * (lesser(-x, all(0.0f)) + kept);
    by_cut[l] = count[l] * at.above - count[l + 1] * at.below;
    total += by_cut[l];
  }
  slope[0] = -total;
  for (int j = 0; j < gaps; j++) {  // a gap moves cutpoints up to j down by half of it, and those after j up
    before += by_cut[j];
    single by_gap = 0.5f * total - before, inside = count[j + 1];
    if (!none(inside)) {
      single part = below_one(gap[j]);
      value += inside * log_of(part);
      by_gap += inside * (1.0f - part) / part;
    }
    slope[1 + j] = by_gap * gap[j];
  }
  return value;
}

// Predictors of a cell, of which `start` has where the values of each begin.
static inline eight sum_of(const int *start, const int *place, const float *coefficient, const eight *x) {
  eight sum = in_eight(0.0f);
  for (int k = start[0]; k < start[1]; k++) sum += coefficient[k] * x[place[k]];
  return sum;
}

// Log likelihood of all cells, added to `value`, and its gradient, added to `by_x` where there is one.
//   start: of each predictor of each cell its first value in `place` and `coefficient`, and at the end their number
//   answers: counts of alternatives, [cell][alternative]; x: [value][point]
SHOWN int voirdire_answers(int family, int predictors, int alternatives, int cells, const int *start, const int *place,
                           const float *coefficient, const float *answers, const float *x, float *by_x, double *value) {
  if (predictors < 1 || predictors > MOST || alternatives > MOST + 1 || family < 0 || family > 2) return 1;
  const eight *from = (const eight *)x;
  eight *to = (eight *)by_x;
  dbl total = {0};
  for (int cell = 0; cell < cells; cell += 2) {
    const int *at = start + cell * predictors, pair = cell + 1 < cells;
    single eta[MOST], slope[MOST], count[MOST + 1], found;
    for (int p = 0; p < predictors; p++) {
      eight one = sum_of(at + p, place, coefficient, from), other = one;
      if (pair) other = sum_of(at + predictors + p, place, coefficient, from);
      eta[p] = joined(one, other);
    }
    const float *counts = answers + cell * alternatives;
    for (int a = 0; a < alternatives; a++)
      count[a] = joined(in_eight(counts[a]), in_eight(pair ? counts[alternatives + a] : 0.0f));
    if (family == 0) found = two_coin(predictors, eta, count, slope);
    else if (family == 1) found = sharpness(predictors, eta, count, slope);
    else found = ordinal(predictors, eta, count, slope);
    total += __builtin_convertvector(one_of(found), dbl) + __builtin_convertvector(other_of(found), dbl);
    if (!to) continue;
    for (int half = 0; half <= pair; half++)
      for (int p = 0; p < predictors; p++) {
        eight own = half ? other_of(slope[p]) : one_of(slope[p]);
        const int *its = at + half * predictors + p;
        for (int k = its[0]; k < its[1]; k++) to[place[k]] += coefficient[k] * own;
      }
  }
  for (int i = 0; i < POINTS; i++) value[i] += total[i];
  return 0;
}

// x = m 2^e, 1 <= m < 2: m, and e added to `exponent`.
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

// Latent values of white coordinates; see voirdire.infer.nested.coordinates.
//   edge: of each group of values with one prior its first value, and at the end their number
//   of each group, [group][point]: p(phi) / p(phi^), f(phi), 1 / t(phi), m(phi); [group]: m(phi^)
//   of each value: p(phi^), w, x^ - m(phi^), b, M' [value][spread]; g(phi - phi^): [spread][point]
// Adds log e and the log prior, but for its constants and log t, to `value`.
SHOWN void voirdire_forward(int groups, const int *edge, int spreads, const double *narrower, const double *farther,
                            const double *inverse, const double *mean, const double *first, const double *prior,
                            const double *told, const double *away, const double *said, const double *moves,
                            const double *beside, const double *normal, double *x, float *rounded, double *value) {
  const dbl *n = (const dbl *)narrower, *f = (const dbl *)farther, *inv = (const dbl *)inverse, *m = (const dbl *)mean;
  const dbl *along = (const dbl *)beside, *z = (const dbl *)normal;
  dbl square_sum = {0}, product = 1.0 - square_sum;  // of all e^2, with its exponent apart
  wide exponent = {0};
  for (int g = 0; g < groups; g++)
    for (int i = edge[g]; i < edge[g + 1]; i++) {
      dbl told_here = told[i] * f[g] * f[g], square = (told[i] + prior[i]) / (told_here + prior[i] * n[g]);
      dbl place = m[g] + (away[i] - said[i] * (m[g] - first[g])) * square * f[g] + z[i] * __builtin_elementwise_sqrt(square);
      for (int h = 0; h < spreads; h++) place += along[h] * moves[i * spreads + h];
      dbl far = (place - m[g]) * inv[g];
      square_sum += far * far;
      product = mantissa_of(product * mantissa_of(square, &exponent), &exponent);
      ((dbl *)x)[i] = place;
      ((eight *)rounded)[i] = __builtin_convertvector(place, eight);
    }
  dbl total = log_of_mantissa(product) + __builtin_convertvector(exponent, dbl) * 0.69314718055994531;
  for (int i = 0; i < POINTS; i++) value[i] += 0.5 * total[i] - 0.5 * square_sum[i];
}

// The gradient of what voirdire_forward makes, given that of the answers and of skewed priors by x: by white coordinates
// before L^-1, `by_normal`, [value][point]; by the logarithms of each group's spread and mean, [group][point]; by the
// changes along M', [spread][point]. kappa: `follow`, [group].
SHOWN void voirdire_backward(int groups, const int *edge, int spreads, const double *narrower, const double *farther,
                             const double *inverse, const double *mean, const double *first, const double *follow,
                             const double *prior, const double *told, const double *away, const double *said,
                             const double *moves, const double *normal, const double *x, const float *by_answers,
                             double *by_normal, double *by_spread, double *by_mean, double *by_moves) {
  const dbl *n = (const dbl *)narrower, *f = (const dbl *)farther, *inv = (const dbl *)inverse, *m = (const dbl *)mean;
  const dbl *z = (const dbl *)normal;
  for (int g = 0; g < groups; g++) {
    dbl spread = {0}, of_mean = {0};
    for (int i = edge[g]; i < edge[g + 1]; i++) {
      dbl told_here = told[i] * f[g] * f[g], prior_here = prior[i] * n[g], precision = told_here + prior_here;
      dbl square = (told[i] + prior[i]) / precision, reach = square * f[g], width = __builtin_elementwise_sqrt(square);
      dbl share = (follow[g] * told_here + prior_here) / precision;
      dbl far = (((const dbl *)x)[i] - m[g]) * inv[g];
      dbl by_x = __builtin_convertvector(((const eight *)by_answers)[i], dbl) - far * inv[g];
      dbl pulled = (away[i] - said[i] * (m[g] - first[g])) * reach;
      spread += by_x * ((2.0 * share - follow[g]) * pulled + share * z[i] * width) + share + far * far - 1.0;
      of_mean += (by_x * (1.0 - said[i] * reach) + far * inv[g]) * m[g];
      for (int h = 0; h < spreads; h++) ((dbl *)by_moves)[h] += by_x * moves[i * spreads + h];
      ((dbl *)by_normal)[i] = by_x * width;
    }
    ((dbl *)by_spread)[g] = spread;
    ((dbl *)by_mean)[g] = of_mean;
  }
}
