// Priors of latent values, and their coordinates, at eight points at once, in double precision.
//
// The formulas are those of voirdire.infer.latent_gaussian.latent_priors and
// voirdire.infer.latent_gaussian.coordinates, which tests compare. Arrays of latent values are [block][value][point],
// those of logarithms of spreads and means [block][hyper][point].

#include "functions.h"

#define PLAIN 0.5  // reversed share of a prior that is not skewed

// Numbers that the values of a group share at a point.
struct group {
  dbl narrower, farther, inverse, mean, log_spread;
};

static inline dbl spread_of(const struct field *f, int g, const dbl *hyper) {
  return f->spread_at[g] < 0 ? in_double(f->log_spread[g]) : hyper[f->spread_at[g]];
}

static inline dbl mean_of(const struct field *f, int g, const dbl *hyper) {
  return f->mean_at[g] < 0 ? in_double(f->mean[g]) : double_exp(hyper[f->mean_at[g]]);
}

// log of r + (1 - 2 r) Phi(x), with r the reversed share, and its slope
static inline dbl skewed(dbl x, double share, dbl *slope) {
  dbl size = chosen(x < 0.0, -x, x), scaled = scaled_erfc(size * 0.70710678118654752);
  dbl density = double_exp(-0.5 * x * x), tail = 0.5 * density * scaled;
  dbl inside = share + (1.0 - 2.0 * share) * chosen(x < 0.0, tail, 1.0 - tail);
  *slope = (1.0 - 2.0 * share) * 0.39894228040143268 * density / inside;
  dbl log = double_log(inside);
  if (share > 0.0) return log;
  // far below zero the normal distribution function underflows
  *slope = chosen(x < 0.0, 0.79788456080286536 / scaled, *slope);
  return chosen(x < 0.0, double_log(0.5 * scaled) - 0.5 * x * x, log);
}

static dbl of_hypers(const struct field *f, const dbl *hyper, dbl *slope) {
  dbl sum = in_double(f->constant);
  for (int h = 0; h < f->hypers; h++) {
    if (f->sd[h] > 0.0) {
      dbl far = (hyper[h] - f->middle[h]) * (1.0 / f->sd[h]);
      sum -= 0.5 * far * far;
      if (slope) slope[h] -= far * (1.0 / f->sd[h]);
    } else {
      dbl scaled = f->rate[h] * double_exp(hyper[h]);
      sum += hyper[h] - scaled;
      if (slope) slope[h] += 1.0 - scaled;
    }
  }
  if (!f->parts) return sum;
  dbl scale = in_double(f->held);
  for (int k = 0; k < f->parts; k++) scale += double_exp(hyper[f->part[k]]);
  for (int k = 0; slope && k < f->parts; k++) {
    slope[f->part[k]] += double_exp(hyper[f->part[k]]) * (f->beyond - f->others / scale);
  }
  return sum + f->beyond * scale - f->others * double_log(scale);
}

// Log density of latent values and of the logarithms of spreads and means.
SHOWN int voirdire_log_prior(const struct field *f, int blocks, const double *hyper, const double *x, double *value) {
  int values = f->edge[f->groups];
  for (int block = 0; block < blocks; block++) {
    const dbl *phi = (const dbl *)hyper + block * f->hypers, *at = (const dbl *)x + block * values;
    dbl total = of_hypers(f, phi, 0), slope;
    for (int g = 0; g < f->groups; g++) {
      dbl log_spread = spread_of(f, g, phi), mean = mean_of(f, g, phi), inverse = double_exp(-log_spread), sum = {0};
      double count = f->edge[g + 1] - f->edge[g];
      for (int i = f->edge[g]; i < f->edge[g + 1]; i++) {
        dbl far = (at[i] - mean) * inverse;
        sum -= 0.5 * far * far;
      }
      total += sum - count * log_spread;
      if (f->reversed[g] == PLAIN) continue;
      dbl spread = double_exp(log_spread);
      total -= count * skewed(mean / __builtin_elementwise_sqrt(1.0 + spread * spread), f->reversed[g], &slope);
      for (int i = f->edge[g]; i < f->edge[g + 1]; i++) total += skewed(at[i], f->reversed[g], &slope);
    }
    ((dbl *)value)[block] = total;
  }
  return 0;
}

// Latent values, in double and single precision, from white coordinates of spreads, [block][hyper][point], and L'^-1 z_x.
//   beside, hyper, scaled: g(phi - phi^), phi, and the numbers of groups, for voirdire_backward
SHOWN int voirdire_forward(const struct field *f, const struct ended *e, int blocks, const double *white,
                           const double *normal, double *beside, double *hyper, double *scaled, double *x,
                           float *rounded) {
  int hypers = f->hypers, values = f->edge[f->groups];
  for (int block = 0; block < blocks; block++) {
    const dbl *z = (const dbl *)normal + block * values, *r = (const dbl *)white + block * hypers;
    dbl *along = (dbl *)beside + block * hypers, *phi = (dbl *)hyper + block * hypers, *to = (dbl *)x + block * values;
    struct group *groups = (struct group *)scaled + block * f->groups;
    for (int h = 0; h < hypers; h++) {
      dbl sum = {0};
      for (int k = 0; k < hypers; k++) sum += r[k] * e->root[h * hypers + k];
      along[h] = chosen(sum < 0.0, double_exp(sum) - 1.0, sum);
      phi[h] = sum + e->hyper[h];
    }
    for (int g = 0; g < f->groups; g++) {
      int own = f->spread_at[g];
      dbl changed = own < 0 ? in_double(0.0) : phi[own] - e->hyper[own], log_spread = spread_of(f, g, phi);
      groups[g] = (struct group){double_exp(-2.0 * changed), double_exp(-e->follow[g] * changed),
                                 double_exp(-log_spread), mean_of(f, g, phi), log_spread};
      struct group at = groups[g];
      for (int i = f->edge[g]; i < f->edge[g + 1]; i++) {
        dbl observed = e->observed[i] * at.farther * at.farther;
        dbl square = (e->observed[i] + e->prior[i]) / (observed + e->prior[i] * at.narrower);
        dbl place = at.mean + (e->away[i] - e->observed_share[i] * (at.mean - e->first[g])) * square * at.farther +
                    z[i] * __builtin_elementwise_sqrt(square);
        for (int h = 0; h < hypers; h++) place += along[h] * e->moves[i * hypers + h];
        to[i] = place;
        ((eight *)rounded)[block * values + i] = __builtin_convertvector(place, eight);
      }
    }
  }
  return 0;
}

// Log density at the results of voirdire_forward, with log e, and its gradient, given that of the answers by x:
// by white coordinates of spreads, and by the normal part of values before L^-1.
//   by_hyper: on entry, the gradient of further terms by phi; on return, the gradient of all terms
SHOWN int voirdire_backward(const struct field *f, const struct ended *e, int blocks, const double *beside,
                            const double *hyper, const double *scaled, const double *normal, const double *x,
                            const float *by_answers, double *by_hyper, double *by_white, double *by_normal,
                            double *value) {
  int hypers = f->hypers, values = f->edge[f->groups];
  for (int block = 0; block < blocks; block++) {
    const dbl *z = (const dbl *)normal + block * values, *at = (const dbl *)x + block * values;
    const dbl *along = (const dbl *)beside + block * hypers, *phi = (const dbl *)hyper + block * hypers;
    const struct group *groups = (const struct group *)scaled + block * f->groups;
    const eight *answers = (const eight *)by_answers + block * values;
    dbl *by_phi = (dbl *)by_hyper + block * hypers, *by_z = (dbl *)by_normal + block * values;
    dbl *by_r = (dbl *)by_white + block * hypers;  // first, the gradient along M'
    dbl squares = {0}, logs = {0}, product = in_double(1.0);  // product of all e^2, with a separate exponent
    wide exponent = {0};
    dbl total = of_hypers(f, phi, by_phi);
    for (int h = 0; h < hypers; h++) by_r[h] = in_double(0.0);
    for (int g = 0; g < f->groups; g++) {
      struct group its = groups[g];
      dbl spread = {0}, of_mean = {0}, slope = {0};
      double count = f->edge[g + 1] - f->edge[g];
      int plain = f->reversed[g] == PLAIN;
      for (int i = f->edge[g]; i < f->edge[g + 1]; i++) {
        dbl observed = e->observed[i] * its.farther * its.farther, prior = e->prior[i] * its.narrower, precision = observed + prior;
        dbl square = (e->observed[i] + e->prior[i]) / precision, reach = square * its.farther;
        dbl width = __builtin_elementwise_sqrt(square), share = (e->follow[g] * observed + prior) / precision;
        dbl far = (at[i] - its.mean) * its.inverse;
        if (!plain) logs += skewed(at[i], f->reversed[g], &slope);
        dbl by_x = __builtin_convertvector(answers[i], dbl) - far * its.inverse + slope;
        dbl pulled = (e->away[i] - e->observed_share[i] * (its.mean - e->first[g])) * reach;
        squares += far * far;
        product = mantissa_of(product * mantissa_of(square, &exponent), &exponent);
        spread += by_x * ((2.0 * share - e->follow[g]) * pulled + share * z[i] * width) + share + far * far - 1.0;
        of_mean += by_x * (1.0 - e->observed_share[i] * reach) + far * its.inverse;
        for (int h = 0; h < hypers; h++) by_r[h] += by_x * e->moves[i * hypers + h];
        by_z[i] = by_x * width;
      }
      logs -= count * its.log_spread;
      if (!plain) {
        dbl variance = double_exp(2.0 * its.log_spread), root = __builtin_elementwise_sqrt(1.0 + variance);
        logs -= count * skewed(its.mean / root, f->reversed[g], &slope);
        spread += count * slope * its.mean * variance / (root * root * root);
        of_mean -= count * slope / root;
      }
      if (f->spread_at[g] >= 0) by_phi[f->spread_at[g]] += spread;
      if (f->mean_at[g] >= 0) by_phi[f->mean_at[g]] += of_mean * its.mean;
    }
    for (int h = 0; h < hypers; h++) by_phi[h] += by_r[h] * chosen(along[h] < 0.0, along[h] + 1.0, in_double(1.0));
    for (int k = 0; k < hypers; k++) {
      dbl sum = {0};
      for (int h = 0; h < hypers; h++) sum += by_phi[h] * e->root[h * hypers + k];
      by_r[k] = sum;
    }
    dbl widths = log_of_mantissa(product) + __builtin_convertvector(exponent, dbl) * 0.69314718055994531;
    ((dbl *)value)[block] = total + logs + 0.5 * (widths - squares);
  }
  return 0;
}
