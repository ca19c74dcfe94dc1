// Answers of cells, at eight points at once.
//
// Arrays of latent values are [value][point]: the same instructions compute all eight points. Answers are computed in
// single precision, with a relative rounding error of some 1e-7 for each cell, and summed in double precision. The
// formulas are those of voirdire.model.family, which tests compare. Nothing is allocated, and no library is called.

#include "functions.h"

#if defined(_WIN32)
int _fltused = 1;  // required of libraries on Windows
int __stdcall DllMainCRTStartup(void *library, unsigned reason, void *reserved) { return 1; }
#endif

// Functions of x: exp(-|x|), the logistic function of |x|, of x and of -x.
struct logistic {
  single small, near, above, below;
};
static inline struct logistic logistic_of(single x) {
  single small = exp_of(-size_of(x)), near = 1.0f / (1.0f + small), far = small * near;
  whole up = x > 0.0f;
  return (struct logistic){small, near, either(up, near, far), either(up, far, near)};
}

#define LOG_TWO 0.69314718f

// Ties, by perceived difference and `more`, log nu and log scale, if any: log likelihood, slopes by all.
// As voirdire.model.family.ties.
static inline single tied_of(int wanted, int scaled, single seen, struct logistic at, const single *more, single tied,
                             single untied, single *by_seen, single *by_more) {
  single chance, scale = all(1.0f), cosh = scale, value = all(0.0f);  // P(tie), scale, log cosh(seen / 2)
  if (scaled || wanted & VALUE) {
    cosh = 0.5f * size_of(seen) - log_of(at.near) - LOG_TWO;
    if (scaled) scale = exp_of(within(more[1], 20.0f));
    single u = scale * cosh + LOG_TWO - more[0];
    struct logistic of = logistic_of(u);
    chance = of.below;
    if (wanted & VALUE) {
      single log_tie = log_of(of.near) - greater(u, all(0.0f));
      value = tied * log_tie + untied * (log_tie + u);
    }
  } else {
    single odds = at.near * exp_of(more[0] - 0.5f * size_of(seen));
    chance = odds / (1.0f + odds);
  }
  single surplus = tied - (tied + untied) * chance;
  *by_seen = -0.5f * (at.above - at.below) * surplus;
  by_more[0] = surplus;
  if (scaled) {
    *by_seen *= scale;
    by_more[1] = -scale * cosh * surplus;
  }
  return value;
}

static inline int none(single x) {
  for (int i = 0; i < BOTH; i += POINTS)
    if (x[i] != 0.0f) return 0;
  return 1;
}

static inline single two_coin(int wanted, int predictors, const single *eta, const single *count, single *slope) {
  single d = within(eta[0], 40.0f);
  struct logistic at = logistic_of(d);
  single value = all(0.0f);
  slope[0] = slope[1] = slope[2] = value;
  int firsts = !none(count[0]), seconds = !none(count[1]);
  if (firsts || seconds) {
    struct logistic one = logistic_of(within(eta[1], 40.0f)), two = logistic_of(within(eta[2], 40.0f));
    single first = one.above * at.above + two.below * at.below, second = one.below * at.above + two.above * at.below;
    if (wanted & VALUE && firsts) value += count[0] * log_of(first);
    if (wanted & VALUE && seconds) value += count[1] * log_of(second);
    single pull = (count[0] * second - count[1] * first) / (first * second);
    slope[0] = at.above * at.below * (one.above * two.above - one.below * two.below) * pull;
    slope[1] = one.above * one.below * at.above * pull;
    slope[2] = -two.above * two.below * at.below * pull;
  }
  if (predictors > 3) {
    single more;
    value += tied_of(wanted, predictors > 4, eta[0], at, eta + 3, count[2], count[3], &more, slope + 3);
    slope[0] += more;
  }
  return value;
}

static inline single sharpness(int wanted, int predictors, const single *eta, const single *count, single *slope) {
  single sharp = exp_of(eta[1]), seen = sharp * eta[0], w = seen + eta[2];
  struct logistic at = logistic_of(w);
  single value = all(0.0f);
  if (wanted & VALUE) {
    single kept = log_of(at.near);
    value = count[0] * (lesser(w, all(0.0f)) + kept) + count[1] * (lesser(-w, all(0.0f)) + kept);
  }
  single pull = count[0] * at.below - count[1] * at.above, by_seen = pull;
  if (predictors > 3) {
    single more;
    value += tied_of(wanted, predictors > 4, seen, logistic_of(seen), eta + 3, count[2], count[3], &more, slope + 3);
    by_seen += more;
  }
  slope[0] = sharp * by_seen;
  slope[1] = seen * by_seen;
  slope[2] = pull;
  return value;
}

static inline single ordinal(int wanted, int predictors, const single *eta, const single *count, single *slope) {
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
    if (wanted & VALUE) {
      single kept = log_of(at.near);
      value += count[l + 1] * (lesser(x, all(0.0f)) + kept) + count[l] * (lesser(-x, all(0.0f)) + kept);
    }
    by_cut[l] = count[l] * at.above - count[l + 1] * at.below;
    total += by_cut[l];
  }
  slope[0] = -total;
  for (int j = 0; j < gaps; j++) {  // a gap moves cutpoints up to j down by half of the gap, and those after j up
    before += by_cut[j];
    single by_gap = 0.5f * total - before, inside = count[j + 1];
    if (!none(inside)) {
      single part = below_one(gap[j]);
      if (wanted & VALUE) value += inside * log_of(part);
      by_gap += inside * (1.0f - part) / part;
    }
    slope[1 + j] = by_gap * gap[j];
  }
  return value;
}

// Ranked items in order, `count` the place of each item, -1 for no item. An item is chosen from all items after it,
// unless it shares its place, which only items at the last place may; as voirdire.model.family.ranking.
static inline single ranking(int wanted, int predictors, const single *eta, const single *count, single *slope) {
  single top = all(-1e30f), left = all(0.0f), value = all(0.0f), odds = all(0.0f), sum[MOST];
  for (int p = 0; p < predictors; p++) top = greater(top, either(count[p] < 0.0f, top, eta[p]));
  for (int p = predictors - 1; p >= 0; p--) {
    slope[p] = either(count[p] < 0.0f, all(0.0f), exp_of(eta[p] - top));
    left += slope[p];
    sum[p] = left;
  }
  for (int p = 0; p < predictors; p++) {
    whole chosen = p + 1 < predictors ? (count[p] >= 0.0f) & (count[p + 1] > count[p]) : (whole){0};
    if (p) chosen &= count[p - 1] != count[p];
    if (wanted & VALUE) value += either(chosen, eta[p] - top - log_of(sum[p]), all(0.0f));
    odds += either(chosen, 1.0f / sum[p], all(0.0f));
    slope[p] = either(chosen, all(1.0f), all(0.0f)) - slope[p] * odds;
  }
  return value;
}

#define INLINE static inline __attribute__((always_inline))

INLINE dbl cells_of(int wanted, int family, int predictors, int alternatives, int cells, const int *start,
                    const int *place, const float *coefficient, const float *answers, const eight *from, eight *to) {
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
    if (family == 0) found = two_coin(wanted, predictors, eta, count, slope);
    else if (family == 1) found = sharpness(wanted, predictors, eta, count, slope);
    else if (family == 2) found = ordinal(wanted, predictors, eta, count, slope);
    else found = ranking(wanted, predictors, eta, count, slope);
    if (wanted & VALUE)
      total += __builtin_convertvector(one_of(found), dbl) + __builtin_convertvector(other_of(found), dbl);
    if (!(wanted & SLOPE)) continue;
    for (int half = 0; half <= pair; half++)
      for (int p = 0; p < predictors; p++) {
        eight own = half ? other_of(slope[p]) : one_of(slope[p]);
        const int *its = at + half * predictors + p;
        for (int k = its[0]; k < its[1]; k++) to[place[k]] += coefficient[k] * own;
      }
  }
  return total;
}

// The requested results and the family are compile-time constants in the loop over cells, so nothing else is computed.
#define OF(wanted, family) \
  cells_of(wanted, family, predictors, alternatives, cells, start, place, coefficient, answers, from, to)

dbl answers_of(int wanted, int family, int predictors, int alternatives, int cells, const int *start, const int *place,
               const float *coefficient, const float *answers, const eight *from, eight *to) {
  switch (wanted * 4 + family) {
    case VALUE * 4: return OF(VALUE, 0);
    case VALUE * 4 + 1: return OF(VALUE, 1);
    case VALUE * 4 + 2: return OF(VALUE, 2);
    case VALUE * 4 + 3: return OF(VALUE, 3);
    case SLOPE * 4: return OF(SLOPE, 0);
    case SLOPE * 4 + 1: return OF(SLOPE, 1);
    case SLOPE * 4 + 2: return OF(SLOPE, 2);
    case SLOPE * 4 + 3: return OF(SLOPE, 3);
    default: return OF(VALUE | SLOPE, family);
  }
}

// Log likelihood of all cells at blocks of eight points; its gradient is added to `by_x`, if given.
//   start: first position of each predictor of each cell in `place` and `coefficient`, and at the end their number
//   answers: counts of alternatives, or places of items, [cell][alternative]; x: [block][value][point]; value: [block][point]
SHOWN int voirdire_answers(int family, int predictors, int alternatives, int cells, int values, int blocks,
                           const int *start, const int *place, const float *coefficient, const float *answers,
                           const float *x, float *by_x, double *value) {
  if (predictors < 1 || predictors > MOST || alternatives > MOST + 1 || family < 0 || family > 3) return 1;
  const eight *from = (const eight *)x;
  eight *to = (eight *)by_x;
  for (int block = 0; block < blocks; block++, from += values)
    ((dbl *)value)[block] = answers_of(to ? VALUE | SLOPE : VALUE, family, predictors, alternatives, cells, start, place,
                                       coefficient, answers, from, to ? to + block * values : to);
  return 0;
}
