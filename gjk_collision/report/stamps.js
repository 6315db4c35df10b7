// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// ---- the stamps of the timeline, one per bin; report/timeline.py describes the columns

function sums(differences, step) {  // the inverse of _differences; null becomes NaN
  const values = new Float64Array(differences.length);
  let sum = 0;
  differences.forEach((each, i) => { if (each === null) values[i] = NaN; else { sum += each; values[i] = sum * step; } });
  return values;
}

function repeated(runs) {  // the inverse of _runs
  const values = new Int16Array(count);
  for (let i = 0, k = 0; i < runs.length; i += 2) { values.fill(runs[i], k, k + runs[i + 1]); k += runs[i + 1]; }
  return values;
}

const FINE = 1e-6, COARSE = 1e-4;
const count = timeline.t.length, size = timeline.size, statusName = timeline.statuses;
const time = sums(timeline.t, FINE), distance = sums(timeline.distance, FINE);
const verdict = repeated(timeline.verdict), status = repeated(timeline.status);
const isBad = (code) => statusName[code] !== "SUCCESS" && code !== 0;  // 0: nothing was reported
const sources = timeline.sources.map((each) => ({
  name: each.name, limit: data.limits[each.name], age: sums(each.age, COARSE), status: repeated(each.status),
  isFlat: !repeated(each.status).some(isBad) && !sums(each.age, COARSE).some((age) => age >= 1e-3),
})).filter((each) => each.age.some((age) => !Number.isNaN(age)) || each.status.some(isBad));
const golden = timeline.golden && {
  labels: timeline.golden.labels, other: timeline.golden.other, change: repeated(timeline.golden.change),
  verdict: repeated(timeline.golden.verdict), status: repeated(timeline.golden.status),
  distance: sums(timeline.golden.distance, FINE),
};
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

function changeAt(i) { return golden && golden.change[i] ? golden.labels[golden.change[i] - 1] : ""; }
