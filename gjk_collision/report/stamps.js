// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// ---- the stamps of the timeline, one per bin; report/timeline.py describes the columns

const floats = (values) => Float64Array.from(values, (each) => each === null ? NaN : each);
const count = timeline.t.length, size = timeline.size, statusName = timeline.statuses;
const time = floats(timeline.t), distance = floats(timeline.distance), { verdict, status } = timeline;
const isBad = (code) => statusName[code] !== "SUCCESS" && code !== 0;  // 0: nothing was reported
const sources = timeline.sources.map((each) => ({
  name: each.name, limit: data.limits[each.name], age: floats(each.age), status: each.status,
  isFlat: !each.status.some(isBad) && !each.age.some((age) => age >= 1e-3),
})).filter((each) => each.age.some((age) => !Number.isNaN(age)) || each.status.some(isBad));
const golden = timeline.golden && { ...timeline.golden, distance: floats(timeline.golden.distance) };
const begin = data.from ?? (count ? Math.min(time[0], 0) : 0);
const end = Math.max(film.end, begin + 1e-3);

function indexAt(t) {  // the last stamp at or before t, as trace --at finds it; the first one if there is none
  let low = 0, high = count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (time[middle] <= t + 5e-7) low = middle; else high = middle - 1;
  }
  return low;
}

const known = (value) => Number.isNaN(value) ? null : value;

function answer(i, of) {  // what is known of a stamp, as text
  const own = (code) => of.verdict[code] < 0 ? "no answer" : verdicts[of.verdict[code]] + ", " + statusName[of.status[code]];
  return own(i) + ", " + number(known(of.distance[i]), golden ? 6 : 4, "m");
}

function changeAt(i) {  // also those after this stamp and before the next one, where no stamp is
  if (!golden) return "";
  const after = golden.other.filter(([t]) => t >= time[i] && !(t >= time[i + 1]));
  const own = golden.change[i] ? [golden.labels[golden.change[i] - 1]] : [];
  return [...own, ...after.map(([t, code]) => golden.labels[code - 1] + " at " + seconds(t))].join(", ");
}
