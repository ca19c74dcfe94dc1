// Declarations that the parts of the kernel share: a model (field), the end of a search of it, and functions of both.

#include "numbers.h"

#define GROUP 5  // numbers stored for a group at a point

// Groups of values with one prior each, and the hyperparameters of these priors.
//   edge: first value of each group, and at the end the number of values
//   spread_at, mean_at: for each group, the logarithm that is that of its spread, and of its mean; -1 if fixed
//   rate, middle, sd: for each logarithm, parameters of the exponential prior, or of a normal one if sd is above 0
//   part: logarithms that are parts of one scale, `parts` of them; the other parts are fixed
//   held, others, beyond: sum of the fixed parts, number of all parts less one, and the prior's slope by the sum
//   constant: constant term of the log density
struct field {
  int groups, hypers, parts;
  const int *edge, *spread_at, *mean_at;
  const double *log_spread, *mean, *reversed, *rate, *middle, *sd;
  const int *part;
  double held, others, beyond, constant;
};

// End of a search: R [hyper][hyper], phi^; m(phi^) and kappa of each group; p(phi^), w, x^ - m(phi^) and b of each
// value, and M' [value][hyper].
struct ended {
  const double *root, *hyper, *first, *follow, *prior, *observed, *away, *observed_share, *moves;
};

// Weighted sum of the values of one row of a sparse matrix; start[0] is the row's first position and coefficient.
static inline eight sum_of(const int *start, const int *place, const float *coefficient, const eight *x) {
  eight sum = in_eight(0.0f);
  for (int k = start[0]; k < start[1]; k++) sum += coefficient[k] * x[place[k]];
  return sum;
}

// Requested results of answers.
enum { VALUE = 1, SLOPE = 2 };

// Log likelihood of the cells of a family at eight points, 0 if not requested, and its gradient, which is added to
// `to`; see voirdire_answers.
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
