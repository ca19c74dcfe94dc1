// What the parts of the kernel know of each other: a field, where a search of it ended, and the functions of both.

#include "numbers.h"

#define GROUP 5  // numbers that are kept of a group at a point

// Values with one prior each, and what is learned of these.
//   edge: of each group its first value, and at the end their number
//   spread_at, mean_at: of each group, which logarithm is that of its spread and of its mean; -1 where they are given
//   rate, middle, sd: of each logarithm, of its exponential prior, or of a normal one where sd is above 0
//   part: logarithms that are parts of one scale, `parts` of them, beside which the others are held
//   held, others, beyond: sum of the others, number of all parts but one, and what their prior has for each unit of the sum
//   constant: what the log density has whatever the point
struct field {
  int groups, hypers, parts;
  const int *edge, *spread_at, *mean_at;
  const double *log_spread, *mean, *reversed, *rate, *middle, *sd;
  const int *part;
  double held, others, beyond, constant;
};

// Where a search ended: R [hyper][hyper], phi^; m(phi^) and kappa of each group; p(phi^), w, x^ - m(phi^) and b of each
// value, and M' [value][hyper].
struct ended {
  const double *root, *hyper, *first, *follow, *prior, *observed, *away, *observed_share, *moves;
};

// Sums of values that each row of a sparse matrix has places and coefficients of, the first row's from start[0] on.
static inline eight sum_of(const int *start, const int *place, const float *coefficient, const eight *x) {
  eight sum = in_eight(0.0f);
  for (int k = start[0]; k < start[1]; k++) sum += coefficient[k] * x[place[k]];
  return sum;
}

// What of answers is asked for.
enum { VALUE = 1, SLOPE = 2 };

// Log likelihood of the cells of a family at eight points, 0 where it is not asked for, and its gradient, which is added
// to `to`; see voirdire_answers.
dbl answers_of(int wanted, int family, int predictors, int alternatives, int cells, const int *start, const int *place,
               const float *coefficient, const float *answers, const eight *from, eight *to);

SHOWN int voirdire_answers(int family, int predictors, int alternatives, int cells, int values, int blocks,
                           const int *start, const int *place, const float *coefficient, const float *answers,
                           const float *x, float *by_x, double *value);
SHOWN int voirdire_log_prior(const struct field *f, int blocks, const double *hyper, const double *x, double *value);
SHOWN int voirdire_forward(const struct field *f, const struct ended *e, int blocks, const double *white,
                           const double *normal, double *beside, double *hyper, double *scaled, double *x,
                           float *rounded);
SHOWN int voirdire_backward(const struct field *f, const struct ended *e, int blocks, const double *beside,
                            const double *hyper, const double *scaled, const double *normal, const double *x,
                            const float *by_answers, double *by_hyper, double *by_white, double *by_normal,
                            double *value);
