// Steps of spreads and means, with their values, of many chains at once, by given random numbers. As
// voirdire.infer.latent_gaussian.rescaling and voirdire.infer.latent_gaussian.parent_child_move, which tests compare.

#include "functions.h"

// Parents with one spread, and their children.
//   edge: first parent of each move in `above`, and at the end their number; below_edge: likewise the children of each
struct parent_child_moves {
  const int *edge, *above, *below_edge, *below;
};

// Steps of all chains; rows have `lanes` numbers, one per chain, and padding from `chains` on.
//   move: parent-child move of each try, -1 to rescale all values; half: the half of the chains that steps
//   step: [try][hyper]; one, other: chains whose difference times `length` is the step, -1 to use `step`
//   normal: [try][most values above]; chance: logarithm of a uniform number from 0 to 1
struct steps {
  int tries, chains, lanes, most;
  const int *move, *half, *one, *other;
  const double *step, *length, *normal, *chance;
};

struct proposal {
  dbl *x, *hyper, *here, *there;  // values of a block; for each group, log spread and mean before and after the step
  eight *rounded;
};

static void group_numbers(const struct field *f, const dbl *hyper, dbl *to) {
  for (int g = 0; g < f->groups; g++) {
    to[2 * g] = f->spread_at[g] < 0 ? in_double(f->log_spread[g]) : hyper[f->spread_at[g]];
    to[2 * g + 1] = f->mean_at[g] < 0 ? in_double(f->mean[g]) : double_exp(hyper[f->mean_at[g]]);
  }
}

// Rescale all values, so that each keeps its standardised deviation from its mean; return the log volume.
static dbl take_along(const struct field *f, const dbl *x, const struct proposal *p) {
  dbl volume = {0};
  for (int g = 0; g < f->groups; g++) {
    dbl wider = p->there[2 * g] - p->here[2 * g], ratio = double_exp(wider);
    for (int i = f->edge[g]; i < f->edge[g + 1]; i++)
      p->x[i] = p->there[2 * g + 1] + (x[i] - p->here[2 * g + 1]) * ratio;
    volume += wider * (double)(f->edge[g + 1] - f->edge[g]);
  }
  return volume;
}

// Conditional prior of delta: its precision and mean.
static dbl shift_of(const struct parent_child_moves *n, int above, const int *group, const dbl *numbers, const dbl *x, dbl *mean) {
  int a = n->above[above], g = group[a];
  dbl weight = double_exp(-2.0 * numbers[2 * g]), precision = weight, pull = (numbers[2 * g + 1] - x[a]) * weight;
  for (int k = n->below_edge[above]; k < n->below_edge[above + 1]; k++) {
    int b = n->below[k], its = group[b];
    dbl beneath = double_exp(-2.0 * numbers[2 * its]);
    precision += beneath;
    pull += (x[b] - numbers[2 * its + 1]) * beneath;
  }
  *mean = pull / precision;
  return precision;
}

static dbl log_normal(dbl x, dbl precision, dbl mean) {
  return 0.5 * double_log(precision) - 0.5 * precision * (x - mean) * (x - mean);
}

// Shift values between parents and children; return the log density of the reverse shift less that of the shift.
static dbl parent_child_move(const struct field *f, const struct parent_child_moves *n, int move, const int *group, const dbl *x,
                    const double *normal, int lanes, const struct proposal *p) {
  dbl way = {0};
  for (int i = 0; i < f->edge[f->groups]; i++) p->x[i] = x[i];
  for (int j = n->edge[move]; j < n->edge[move + 1]; j++) {
    dbl mean, precision = shift_of(n, j, group, p->there, p->x, &mean);
    dbl delta = mean + *(const dbl *)(normal + (j - n->edge[move]) * lanes) / __builtin_elementwise_sqrt(precision);
    way -= log_normal(delta, precision, mean);
    p->x[n->above[j]] += delta;
    for (int k = n->below_edge[j]; k < n->below_edge[j + 1]; k++) p->x[n->below[k]] -= delta;
    precision = shift_of(n, j, group, p->here, p->x, &mean);
    way += log_normal(-delta, precision, mean);
  }
  return way;
}

static wide goes_of(const struct steps *s, int block, int half) {
  wide goes;
  for (int lane = 0; lane < POINTS; lane++) {
    int chain = block * POINTS + lane;
    goes[lane] = chain < s->chains && (chain < (s->chains + 1) / 2) == !half ? -1 : 0;
  }
  return goes;
}

static int any(wide which) {
  for (int lane = 0; lane < POINTS; lane++)
    if (which[lane]) return 1;
  return 0;
}

// Make the steps of chains at values x and logarithms of spreads and means, [block][value or hyper][point], with log
// densities `log`; `memory` has (3 values / 2 + hypers + 4 groups) * 8 doubles; `group` is the group of each value.
SHOWN int voirdire_rescale(int family, int predictors, int alternatives, int cells, const int *start, const int *place,
                           const float *coefficient, const float *answers, const struct field *f, const int *group,
                           const struct parent_child_moves *n, const struct steps *s, double *x, double *hyper, double *log,
                           double *memory) {
  int values = f->edge[f->groups], hypers = f->hypers, blocks = s->lanes / POINTS;
  dbl *room = (dbl *)memory;
  struct proposal p = {room, room + values, room + values + hypers, room + values + hypers + 2 * f->groups,
                       (eight *)(room + values + hypers + 4 * f->groups)};
  for (int t = 0; t < s->tries; t++)
    for (int block = 0; block < blocks; block++) {
      wide goes = goes_of(s, block, s->half[t]);
      if (!any(goes)) continue;
      dbl *at = (dbl *)x + block * values, *phi = (dbl *)hyper + block * hypers;
      int row = t * s->lanes + block * POINTS;
      for (int h = 0; h < hypers; h++) {
        dbl step = *(const dbl *)(s->step + (t * hypers + h) * s->lanes + block * POINTS);
        for (int lane = 0; lane < POINTS; lane++) {
          int one = s->one[row + lane], other = s->other[row + lane];
          if (one < 0) continue;
          step[lane] = s->length[row + lane] * (hyper[((one / POINTS) * hypers + h) * POINTS + one % POINTS] -
                                                hyper[((other / POINTS) * hypers + h) * POINTS + other % POINTS]);
        }
        p.hyper[h] = phi[h] + step;
      }
      group_numbers(f, phi, p.here);
      group_numbers(f, p.hyper, p.there);
      const double *normal = s->normal + t * s->most * s->lanes + block * POINTS;
      dbl volume = s->move[t] < 0 ? take_along(f, at, &p) : parent_child_move(f, n, s->move[t], group, at, normal, s->lanes, &p);
      for (int i = 0; i < values; i++) p.rounded[i] = __builtin_convertvector(p.x[i], eight);
      dbl prior, before = ((dbl *)log)[block];
      voirdire_log_prior(f, 1, (double *)p.hyper, (double *)p.x, (double *)&prior);
      dbl found = prior + answers_of(VALUE, family, predictors, alternatives, cells, start, place, coefficient, answers,
                                     p.rounded, 0);
      goes &= *(const dbl *)(s->chance + row) < found - before + volume;  // NaN is never accepted
      if (!any(goes)) continue;
      for (int i = 0; i < values; i++) at[i] = chosen(goes, p.x[i], at[i]);
      for (int h = 0; h < hypers; h++) phi[h] = chosen(goes, p.hyper[h], phi[h]);
      ((dbl *)log)[block] = chosen(goes, found, before);
    }
  return 0;
}
