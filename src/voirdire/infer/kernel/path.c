// Paths of Hamiltonian Monte Carlo at eight points at once, for models whose answers the kernel supports and whose
// L'^-1 is a product of sparse matrices, in single precision. As voirdire.infer.latent_gaussian.hamiltonian.follow_path
// and voirdire.infer.latent_gaussian.coordinates, which tests compare.

#include "functions.h"

#define OUTER 0.21178  // share of a step in the first and in the last of its three changes of momentum

// All parts of an energy.
//   start, place, coefficient, answers: see voirdire_answers
//   scale: factor of each coordinate; along, gain: stretched directions, [coordinate][direction], and their stretch
//   normal_*, white_*: factors of L'^-1 and of L^-1, in the order of their application, each with one row per value
//   at, sd, middle, width, bend: positions of the bent values, and parameters of their maps
struct energy {
  const struct field *field;
  const struct ended *ended;
  int family, predictors, alternatives, cells, directions, bent, products;
  const int *start, *place;
  const float *coefficient, *answers;
  const double *scale, *along, *gain;
  const int *normal_start, *normal_place;
  const float *normal_coefficient;
  const int *white_start, *white_place;
  const float *white_coefficient;
  const int *at;
  const double *sd, *middle, *width, *bend;
};

// Working memory for one block; voirdire_room gives the number of doubles.
struct room {
  dbl *stretched, *normal, *values, *beside, *hyper, *scaled, *x, *by_hyper, *by_values;
  eight *rounded, *by_answers, *spare;
};

static struct room room_in(const struct energy *e, double *memory) {
  int hypers = e->field->hypers, values = e->field->edge[e->field->groups];
  dbl *at = (dbl *)memory;
  struct room r;
  r.stretched = at, at += hypers + values;
  r.normal = at, at += values;
  r.values = at, at += values;
  r.beside = at, at += hypers;
  r.hyper = at, at += hypers;
  r.scaled = at, at += GROUP * e->field->groups;
  r.x = at, at += values;
  r.by_hyper = at, at += hypers;
  r.by_values = at, at += values;
  r.rounded = (eight *)at, r.by_answers = r.rounded + values, r.spare = r.by_answers + values;
  return r;
}

// Number of doubles in the working memory of one block.
SHOWN int voirdire_room(const struct energy *e) {
  int hypers = e->field->hypers, values = e->field->edge[e->field->groups];
  return POINTS * (4 * hypers + 5 * values + GROUP * e->field->groups) + POINTS * (3 * values + 1) / 2;
}

// Stretch along the directions of `along`.
static void stretch(const struct energy *e, int size, dbl *at) {
  for (int d = 0; d < e->directions; d++) {
    dbl sum = {0};
    for (int i = 0; i < size; i++) sum += at[i] * e->along[i * e->directions + d];
    sum *= e->gain[d];
    for (int i = 0; i < size; i++) at[i] += sum * e->along[i * e->directions + d];
  }
}

// Sum of many products in four independent parts, which processors compute at the same time.
static inline eight long_sum_of(const int *start, const int *place, const float *coefficient, const eight *x) {
  eight sum[4] = {0};
  int k = start[0];
  for (; k + 4 <= start[1]; k += 4)
    for (int part = 0; part < 4; part++) sum[part] += coefficient[k + part] * x[place[k + part]];
  for (; k < start[1]; k++) sum[0] += coefficient[k] * x[place[k]];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Multiply values by the matrices in turn; the result is in `from` or in `spare`.
static const eight *multiplied(int products, int values, const int *start, const int *place, const float *coefficient,
                               eight *from, eight *spare) {
  for (int product = 0; product < products; product++, start += values) {
    for (int i = 0; i < values; i++) spare[i] = long_sum_of(start + i, place, coefficient, from);
    eight *last = from;
    from = spare, spare = last;
  }
  return from;
}

// Minus the log density if requested, else an arbitrary number, and its gradient.
static dbl energy_of(int wanted, const struct energy *e, const dbl *z, dbl *slope, const struct room *r) {
  int hypers = e->field->hypers, values = e->field->edge[e->field->groups], size = hypers + values;
  for (int i = 0; i < size; i++) r->stretched[i] = z[i] * e->scale[i];
  stretch(e, size, r->stretched);
  for (int i = 0; i < values; i++) {
    r->rounded[i] = __builtin_convertvector(r->stretched[hypers + i], eight);
    r->by_answers[i] = in_eight(0.0f);
  }
  const eight *normal = multiplied(e->products, values, e->normal_start, e->normal_place, e->normal_coefficient,
                                   r->rounded, r->spare);
  for (int i = 0; i < values; i++) r->normal[i] = r->values[i] = __builtin_convertvector(normal[i], dbl);
  dbl volume = {0}, answered, other;
  for (int k = 0; k < e->bent; k++) {
    dbl u = r->normal[e->at[k]] * (1.0 / e->sd[k]), root = __builtin_elementwise_sqrt(1.0 + u * u);
    r->values[e->at[k]] = e->middle[k] + e->width[k] * (u + e->bend[k] * (root - 1.0));
    if (wanted & VALUE) volume += double_log((1.0 + e->bend[k] * u / root) * (e->width[k] / e->sd[k]));
  }
  voirdire_forward(e->field, e->ended, 1, (double *)r->stretched, (double *)r->values, (double *)r->beside,
                   (double *)r->hyper, (double *)r->scaled, (double *)r->x, (float *)r->rounded);
  answered = answers_of(wanted, e->family, e->predictors, e->alternatives, e->cells, e->start, e->place, e->coefficient,
                        e->answers, r->rounded, r->by_answers);
  for (int h = 0; h < hypers; h++) r->by_hyper[h] = in_double(0.0);
  voirdire_backward(e->field, e->ended, 1, (double *)r->beside, (double *)r->hyper, (double *)r->scaled,
                    (double *)r->values, (double *)r->x, (float *)r->by_answers, (double *)r->by_hyper,
                    (double *)r->stretched, (double *)r->by_values, (double *)&other);
  for (int k = 0; k < e->bent; k++) {
    dbl u = r->normal[e->at[k]] * (1.0 / e->sd[k]), root = __builtin_elementwise_sqrt(1.0 + u * u);
    dbl turned = 1.0 + e->bend[k] * u / root;
    r->by_values[e->at[k]] = r->by_values[e->at[k]] * turned * (e->width[k] / e->sd[k]) +
                             e->bend[k] / (root * root * root * turned * e->sd[k]);
  }
  for (int i = 0; i < values; i++) r->rounded[i] = __builtin_convertvector(r->by_values[i], eight);
  const eight *white = multiplied(e->products, values, e->white_start, e->white_place, e->white_coefficient,
                                  r->rounded, r->spare);
  for (int i = 0; i < hypers; i++) slope[i] = -r->stretched[i];
  for (int i = 0; i < values; i++) slope[hypers + i] = -__builtin_convertvector(white[i], dbl);
  stretch(e, size, slope);
  for (int i = 0; i < size; i++) slope[i] *= e->scale[i];
  return -(answered + other + volume);
}

// Follow paths of `steps` steps of the given length from points z, [block][coordinate][point], with momentum and the
// gradient there. The ends overwrite z, momentum and slope, and their energies are in `value`. With zero steps, the
// energy and the gradient at z are computed.
SHOWN int voirdire_path(int blocks, int steps, const struct energy *e, const double *step, double *z, double *momentum,
                        double *slope, double *value, double *memory) {
  int size = e->field->hypers + e->field->edge[e->field->groups];
  struct room room = room_in(e, memory);
  double length = *step;
  for (int block = 0; block < blocks; block++) {
    dbl *at = (dbl *)z + block * size, *p = (dbl *)momentum + block * size, *by = (dbl *)slope + block * size;
    if (!steps) ((dbl *)value)[block] = energy_of(VALUE | SLOPE, e, at, by, &room);
    for (int k = 0; k < steps; k++) {
      for (int i = 0; i < size; i++) {
        p[i] -= OUTER * length * by[i];
        at[i] += 0.5 * length * p[i];
      }
      energy_of(SLOPE, e, at, by, &room);
      for (int i = 0; i < size; i++) {
        p[i] -= (1.0 - 2.0 * OUTER) * length * by[i];
        at[i] += 0.5 * length * p[i];
      }
      ((dbl *)value)[block] = energy_of(k + 1 < steps ? SLOPE : VALUE | SLOPE, e, at, by, &room);
      for (int i = 0; i < size; i++) p[i] -= OUTER * length * by[i];
    }
  }
  return 0;
}
