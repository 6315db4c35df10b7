// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
#include "free_certificate.h"

#define STEP GJK_STEP
#define ONE GJK_ONE
#define FAR ((int64_t)0x7000000000000000)  // no bound

// A number in base STEP.
typedef struct {
  int64_t high, middle, low;
} Digits;

/*@ predicate within(integer a, integer limit) = -limit <= a <= limit; */

/*@ requires within(u, ONE);
    assigns \nothing;
    ensures u == \result.high * STEP * STEP + \result.middle * STEP + \result.low;
    ensures within(\result.high, STEP) && within(\result.middle, STEP) &&
      within(\result.low, STEP);
*/
static Digits split(int64_t u) {
  const Digits digits = {u / STEP / STEP, u / STEP % STEP, u % STEP};
  return digits;
}

/*@ requires within(x, ONE) && within(y, ONE) && within(p, STEP) && within(q, STEP);
    assigns \nothing;
    ensures \result == x * p + y * q && within(\result, 2 * ONE * STEP);
*/
static int64_t dot(int64_t x, int64_t y, int64_t p, int64_t q) {
  //@ assert within(x * p, ONE * STEP) && within(y * q, ONE * STEP);
  return x * p + y * q;
}

// The product of (x, y) and (u, v) in steps of STEP * STEP, rounded up by at most 3 steps. Each of
// its sums fits into 63 bits.
/*@ requires within(x, ONE) && within(y, ONE) && within(u, ONE) && within(v, ONE);
    assigns \nothing;
    ensures x * u + y * v <= \result * STEP * STEP <= x * u + y * v + 3 * STEP * STEP;
    ensures within(\result, 2 * ONE * STEP + 3 * ONE);
*/
static int64_t along(int64_t x, int64_t y, int64_t u, int64_t v) {
  const Digits p = split(u), q = split(v);
  const int64_t high = dot(x, y, p.high, q.high);
  const int64_t middle = dot(x, y, p.middle, q.middle);
  const int64_t low = dot(x, y, p.low, q.low);
  //@ assert x * u + y * v == high * STEP * STEP + middle * STEP + low;
  return high + (middle + low / STEP + 1) / STEP + 1;
}

/*@ assigns \nothing;
    ensures \result != 0 <==> within(x, ONE) && within(y, ONE);
*/
static int in_range(int64_t x, int64_t y) {
  return -ONE <= x && x <= ONE && -ONE <= y && y <= ONE;
}

// A component of a direction in the frame of a part, with an error of at most 2.
/*@ requires within(u, ONE) && within(v, ONE) && within(c, ONE) && within(s, ONE);
    assigns \nothing;
    ensures within(\result * ONE - (u * c + v * s), 2 * ONE) && within(\result, 3 * ONE);
*/
static int64_t component(int64_t u, int64_t v, int64_t c, int64_t s) {
  return along(u, v, c, s) / STEP;
}

// Steps of proofs, for which no code is compiled.
/*@ ghost
  /@ requires within(x, ONE) && within(w, ONE) && within(u, ONE) && within(v, ONE);
     requires within(c, ONE) && within(s, ONE) && within(w * ONE - (u * c + v * s), 2 * ONE);
     assigns \nothing;
     ensures x * (u * c + v * s) <= (x * w + 2 * \abs(x)) * ONE;
  @/
  void rounded(int64_t x, int64_t w, int64_t u, int64_t v, int64_t c, int64_t s) {
    if (x >= 0) {
      /@ assert x * (u * c + v * s) <= x * (w + 2) * ONE; @/
    } else {
      /@ assert -x * -(u * c + v * s) <= -x * (-w + 2) * ONE; @/
    }
  }

  /@ requires within(u, ONE) && within(v, ONE);
     assigns \nothing;
     ensures \abs(u * x + v * y) <= (\abs(x) + \abs(y)) * ONE;
  @/
  void limited(int64_t x, int64_t y, int64_t u, int64_t v) {
    /@ assert -\abs(x) * ONE <= u * x <= \abs(x) * ONE; @/
    /@ assert -\abs(y) * ONE <= v * y <= \abs(y) * ONE; @/
  }

  /@ requires unit > 0 && own / unit + 1 <= -other;
     assigns \nothing;
     ensures own + unit * other < 0;
  @/
  void added(int64_t own, int64_t other, int64_t unit) {
    /@ assert own < (own / unit + 1) * unit; @/
    /@ assert (own / unit + 1) * unit <= -other * unit; @/
  }

  /@ requires 0 <= i < own_count <= GJK_MOST && 0 <= count <= GJK_MOST;
     assigns \nothing;
     ensures 0 <= i * count <= (own_count - 1) * count <= GJK_MOST * GJK_MOST;
  @/
  void indexed(int64_t i, int64_t own_count, int64_t count) {}
*/

// An upper bound for vertex (x, y), as along(). The direction (u, v) is (w, z) in the frame of the
// part: its error and that of the turn (c, s) are added.
/*@ requires within(x, ONE) && within(y, ONE) && within(w, ONE) && within(z, ONE);
    requires within(u, ONE) && within(v, ONE) && within(c, ONE) && within(s, ONE);
    requires within(w * ONE - (u * c + v * s), 2 * ONE);
    requires within(z * ONE - (v * c - u * s), 2 * ONE);
    assigns \nothing;
    ensures c * (u * x + v * y) + s * (v * x - u * y) + \abs(u * x + v * y) + \abs(v * x - u * y) <=
      \result * STEP * STEP * ONE;
    ensures within(\result, 2 * ONE * STEP + 4 * ONE);
*/
static int64_t reach_of(int64_t x, int64_t y, int64_t w, int64_t z)
/*@ ghost (int64_t u, int64_t v, int64_t c, int64_t s) */ {
  const int64_t size = (x < 0 ? -x : x) + (y < 0 ? -y : y);
  const int64_t reach = along(x, y, w, z) + size / (STEP * STEP / 4) + 1;
  //@ assert x * w + y * z + 4 * size <= reach * STEP * STEP;
  //@ ghost rounded(x, w, u, v, c, s);
  //@ ghost rounded(y, z, v, -u, c, s);
  //@ ghost limited(x, y, u, v);
  //@ ghost limited(x, y, v, -u);
  return reach;
}

// An upper bound of the extent of a part. FAR: none, as a number is not in its range.
/*@ requires within(u, ONE) && within(v, ONE) && is_readable(part);
    assigns \nothing;
    ensures within(\result, FAR);
    ensures \result < FAR ==> part->count > 0 && part->radius >= 0;
    ensures \result < FAR ==> \forall integer i; 0 <= i < part->count ==>
      extent(part, i, u, v) <= \result * STEP * STEP * ONE;
*/
static int64_t reach(const GjkPart* part, int64_t u, int64_t v) {
  const int64_t c = part->turn.x, s = part->turn.y;
  if (part->count < 1 || part->radius < 0 || !in_range(part->radius, 0) || !in_range(c, s) ||
      !in_range(part->position.x, part->position.y)) {
    return FAR;
  }
  const int64_t w = component(u, v, c, s), z = component(v, -u, c, s);
  if (!in_range(w, z)) return FAR;
  int64_t most = -FAR;
  /*@ loop invariant 0 <= i <= part->count;
      loop invariant most == -FAR || within(most, 2 * ONE * STEP + 4 * ONE);
      loop invariant i > 0 ==> most > -FAR;
      loop invariant \forall integer k; 0 <= k < i ==>
        beyond(part, k, u, v) <= most * STEP * STEP * ONE;
      loop assigns i, most;
      loop variant part->count - i;
  */
  for (int64_t i = 0; i < part->count; ++i) {
    const int64_t x = part->vertices[i].x, y = part->vertices[i].y;
    if (!in_range(x, y)) return FAR;
    const int64_t here = reach_of(x, y, w, z) /*@ ghost (u, v, c, s) */;
    //@ assert beyond(part, i, u, v) <= here * STEP * STEP * ONE;
    if (here > most) most = here;
  }
  return most + along(part->position.x, part->position.y, u, v) + part->radius * STEP;
}

/*@ requires is_readable(p) && is_readable(q);
    assigns \nothing;
    ensures \result != 0 ==> is_apart(p, q, u, v);
*/
static int proves_apart(const GjkPart* p, const GjkPart* q, int64_t u, int64_t v) {
  if (!in_range(u, v) || along(u, v, u, v) > ONE * STEP || q->unit < 1) return 0;
  const int64_t own = reach(p, u, v), other = reach(q, -u, -v);
  if (own >= FAR || own / q->unit + 1 > -other) return 0;
  //@ ghost added(own, other, q->unit);
  /*@ assert \forall integer j; 0 <= j < q->count ==>
        q->unit * extent(q, j, -u, -v) <= q->unit * other * (STEP * STEP * ONE); */
  return 1;
}

/*@ requires 0 <= count && is_readable(part) && \valid_read(directions + (0 .. count - 1));
    requires \valid_read(obstacles + (0 .. count - 1));
    requires \forall integer j; 0 <= j < count ==> is_readable(obstacles + j);
    assigns \nothing;
    ensures \result != 0 ==> is_clear(part, obstacles, count, directions);
*/
static int proves_clear(const GjkPart* part, const GjkPart* obstacles, int64_t count,
                        const GjkVector* directions) {
  /*@ loop invariant 0 <= j <= count && is_clear(part, obstacles, j, directions);
      loop assigns j;
      loop variant count - j;
  */
  for (int64_t j = 0; j < count; ++j) {
    if (!proves_apart(part, obstacles + j, directions[j].x, directions[j].y)) return 0;
  }
  return 1;
}

int gjk_proves_free(const GjkPart* own, int64_t own_count, const GjkPart* obstacles, int64_t count,
                    const GjkVector* directions) {
  /*@ loop invariant 0 <= i <= own_count;
      loop invariant \forall integer k; 0 <= k < i ==>
        is_clear(own + k, obstacles, count, directions + k * count);
      loop assigns i;
      loop variant own_count - i;
  */
  for (int64_t i = 0; i < own_count; ++i) {
    //@ ghost indexed(i, own_count, count);
    if (!proves_clear(own + i, obstacles, count, directions + i * count)) return 0;
  }
  return 1;
}
