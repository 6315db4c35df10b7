// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
//
// Decides in integers whether directions prove that a vehicle is clear of all obstacles. What the
// contract of gjk_proves_free() says is proven by `./dev prove`, with Frama-C. docs/safety.md lists
// what the proof assumes.
#ifndef GJK_CHECKER_FREE_CERTIFICATE_H
#define GJK_CHECKER_FREE_CERTIFICATE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GJK_STEP ((int64_t)0x8000)         // 2^15
#define GJK_ONE ((int64_t)0x200000000000)  // 2^45: the 1 of directions, cosines and sines
#define GJK_MOST ((int64_t)0x7fffffff)     // the largest number of parts

typedef struct {
  int64_t x, y;
} GjkVector;

// The points within a radius of the convex hull of some vertices. They are turned, then moved. An
// obstacle has its own unit of length, which is a multiple of that of the vehicle. Vertices,
// position and radius are numbers of this unit from -GJK_ONE to GJK_ONE.
typedef struct {
  const GjkVector* vertices;
  int64_t count;       // of the vertices
  GjkVector turn;      // GJK_ONE times cosine and sine of the yaw, each with an error of at most 1
  GjkVector position;
  int64_t radius;      // of an obstacle: and what the margin requires
  int64_t unit;        // of an obstacle: in units of the vehicle
} GjkPart;

/*@ // Vertex i of a part is p. Along (u, v), and times GJK_ONE, it is c (u p.x + v p.y) +
    // s (v p.x - u p.y) beyond the position of the part. This is its largest value for all cosines
    // c and sines s that differ by at most 1 from those of the part:
    logic integer beyond(GjkPart* part, integer i, integer u, integer v) =
      part->turn.x * (u * part->vertices[i].x + v * part->vertices[i].y) +
      part->turn.y * (v * part->vertices[i].x - u * part->vertices[i].y) +
      \abs(u * part->vertices[i].x + v * part->vertices[i].y) +
      \abs(v * part->vertices[i].x - u * part->vertices[i].y);

    // The same, with position and radius, for a direction that is at most GJK_ONE long.
    logic integer extent(GjkPart* part, integer i, integer u, integer v) =
      beyond(part, i, u, v) + GJK_ONE * (u * part->position.x + v * part->position.y) +
      GJK_ONE * GJK_ONE * part->radius;

    // Along (u, v), each point of the vehicle p is less far than each point of the obstacle q.
    predicate is_apart(GjkPart* p, GjkPart* q, integer u, integer v) =
      u * u + v * v <= GJK_ONE * GJK_ONE && q->unit > 0 &&
      p->count > 0 && q->count > 0 && p->radius >= 0 && q->radius >= 0 &&
      \forall integer i, j; 0 <= i < p->count ==> 0 <= j < q->count ==>
        extent(p, i, u, v) + q->unit * extent(q, j, -u, -v) < 0;

    // A direction for each obstacle.
    predicate is_clear(GjkPart* p, GjkPart* obstacles, integer count, GjkVector* directions) =
      \forall integer j; 0 <= j < count ==>
        is_apart(p, obstacles + j, directions[j].x, directions[j].y);

    predicate is_readable(GjkPart* part) =
      \valid_read(part) && \valid_read(part->vertices + (0 .. part->count - 1));
*/

// Whether directions[i * count + j], from part i of the vehicle to part j of the obstacles, proves
// that these are apart, for all i and j. The position of the vehicle is zero, or that of obstacles
// is relative to it.
/*@ requires 0 <= own_count <= GJK_MOST && 0 <= count <= GJK_MOST;
    requires \valid_read(own + (0 .. own_count - 1));
    requires \valid_read(obstacles + (0 .. count - 1));
    requires \valid_read(directions + (0 .. own_count * count - 1));
    requires \forall integer i; 0 <= i < own_count ==> is_readable(own + i);
    requires \forall integer j; 0 <= j < count ==> is_readable(obstacles + j);
    assigns \nothing;
    ensures \result != 0 ==> \forall integer i; 0 <= i < own_count ==>
      is_clear(own + i, obstacles, count, directions + i * count);
*/
int gjk_proves_free(const GjkPart* own, int64_t own_count, const GjkPart* obstacles, int64_t count,
                    const GjkVector* directions);

#ifdef __cplusplus
}
#endif

#endif
