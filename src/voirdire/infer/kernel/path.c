// Paths of Hamiltonian Monte Carlo at eight points side by side, of fields whose answers the kernel has and whose L'^-1
// is written out. As voirdire.infer.nested.hamiltonian.follow_path and voirdire.infer.nested.coordinates, which tests
// compare.

#include "functions.h"

#define OUTER 0.21178  // share of a step that the first and the last of its three changes of momentum take

// All that an energy is made of.
//   start, place, coefficient, answers: see voirdire_answers
//   along, gain: directions that are stretched, [coordinate][direction] and [direction]
//   inverse: L'^-1, [value][value]
//   at, sd, middle, width, bend: values that are bent, one after the other
struct energy {
  const struct field *field;
  const struct ended *ended;
  int family, predictors, alternatives, cells, directions, bent;
  const int *start, *place;
  const float *coefficient, *answers;
  const double *along, *gain, *inverse;
  const int *at;
  const double *sd, *middle, *width, *bend;
};

// Room for one block, of the number of doubles that voirdire_room says.
struct room {
  dbl *stretched, *normal, *values, *beside, *hyper, *scaled, *x, *by_hyper, *by_values;
  eight *rounded, *by_answers;
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
  r.rounded = (eight *)at, r.by_answers = r.rounded + values;
  return r;
}

// Doubles that the room of one block takes.
SHOWN int voirdire_room(const struct energy *e) {
  int hypers = e->field->hypers, values = e->field->edge[e->field->groups];
  return POINTS * (4 * hypers + 6 * values + GROUP * e->field->groups);
}

static void stretch(const struct energy *e, int size, const dbl *from, dbl *to) {
  for (int i = 0; i < size; i++) to[i] = from[i];
  for (int d = 0; d < e->directions; d++) {
    dbl sum = {0};
    for (int i = 0; i < size; i++) sum += from[i] * e->along[i * e->directions + d];
    sum *= e->gain[d];
    for (int i = 0; i < size; i++) to[i] += sum * e->along[i * e->directions + d];
  }
}

// Minus the log density, and its gradient.
static dbl energy_of(const struct energy *e, const dbl *z, dbl *slope, const struct room *r) {
  int hypers = e->field->hypers, values = e->field->edge[e->field->groups], size = hypers + values;
  stretch(e, size, z, r->stretched);
  for (int i = 0; i < values; i++) {
    dbl sum = {0};
    for (int j = 0; j < values; j++) sum += e->inverse[i * values + j] * r->stretched[hypers + j];
    r->normal[i] = r->values[i] = sum;
    r->by_answers[i] = in_eight(0.0f);
  }
  dbl volume = {0}, answered, other;
  for (int k = 0; k < e->bent; k++) {
    dbl u = r->normal[e->at[k]] * (1.0 / e->sd[k]), root = __builtin_elementwise_sqrt(1.0 + u * u);
    r->values[e->at[k]] = e->middle[k] + e->width[k] * (u + e->bend[k] * (root - 1.0));
    volume += double_log((1.0 + e->bend[k] * u / root) * (e->width[k] / e->sd[k]));
  }
  voirdire_forward(e->field, e->ended, 1, (double *)r->stretched, (double *)r->values, (double *)r->beside,
                   (double *)r->hyper, (double *)r->scaled, (double *)r->x, (float *)r->rounded);
  voirdire_answers(e->family, e->predictors, e->alternatives, e->cells, values, 1, e->start, e->place, e->coefficient,
                   e->answers, (float *)r->rounded, (float *)r->by_answers, (double *)&answered);
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
  for (int j = 0; j < values; j++) r->stretched[hypers + j] = in_double(0.0);
  for (int i = 0; i < values; i++)
    for (int j = 0; j < values; j++) r->stretched[hypers + j] += e->inverse[i * values + j] * r->by_values[i];
  stretch(e, size, r->stretched, slope);
  for (int i = 0; i < size; i++) slope[i] = -slope[i];
  return -(answered + other + volume);
}

// Follow paths of so many steps of such a length from places z, [block][coordinate][point], with momentum and the
// gradient there; what they end with takes the place of these, and the energy there that of `value`.
SHOWN int voirdire_path(int blocks, int steps, const struct energy *e, const double *step, double *z, double *momentum,
                        double *slope, double *value, double *memory) {
  int size = e->field->hypers + e->field->edge[e->field->groups];
  struct room room = room_in(e, memory);
  double length = *step;
  for (int block = 0; block < blocks; block++) {
    dbl *at = (dbl *)z + block * size, *p = (dbl *)momentum + block * size, *by = (dbl *)slope + block * size;
    for (int k = 0; k < steps; k++) {
      for (int i = 0; i < size; i++) {
        p[i] -= OUTER * length * by[i];
        at[i] += 0.5 * length * p[i];
      }
      energy_of(e, at, by, &room);
      for (int i = 0; i < size; i++) {
        p[i] -= (1.0 - 2.0 * OUTER) * length * by[i];
        at[i] += 0.5 * length * p[i];
      }
      ((dbl *)value)[block] = energy_of(e, at, by, &room);
      for (int i = 0; i < size; i++) p[i] -= OUTER * length * by[i];
    }
  }
  return 0;
}
