// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// ---- timeline: verdicts, distance and ages, one below the other, with the same time axis

const LEFT = 78, RIGHT = 12;
const begin = timeline.length ? timeline[0][0] : 0;
const end = Math.max(film.end, begin + 1e-3);
const xOf = (t, w) => LEFT + (t - begin) / (end - begin) * (w - LEFT - RIGHT);

function curve(g, w, top, height, column, limit, name) {
  g.strokeStyle = colour(name); g.lineWidth = 1.5; g.setLineDash(DASHES[name] || []); g.beginPath();
  let pen = false;
  for (const bin of timeline) {
    const value = bin[column];
    if (value === null) { pen = false; continue; }  // not known: no line leads across
    const x = xOf(bin[0], w), y = top + height * (1 - Math.max(0, Math.min(value, limit)) / limit);
    if (!pen) g.moveTo(x - 0.5, y);
    g.lineTo(x, y);
    pen = true;
  }
  g.stroke();
  g.setLineDash([]);
}

function drawTimeline() {
  const { g, w, h } = surface(el("timeline"));
  const lanes = [[4, 34], [50, 66], [128, 38]];
  g.textAlign = "right"; g.textBaseline = "middle";
  const [top, height] = lanes[0];
  for (let i = 0, j = 0; i < frames.length; i = j) {  // frames of one verdict
    while (j < frames.length && frames[j].v === frames[i].v) j++;
    const x = xOf(frames[i].begin, w), next = j < frames.length ? xOf(frames[j].begin, w) : w - RIGHT;
    bar(g, verdicts[frames[i].v], x, top, Math.max(1, next - x), height);
  }
  const clear = ceiling(timeline.map((bin) => bin[1]).filter((v) => v !== null).map((v) => Math.min(v, 50)), 0.1);
  const ages = ceiling(timeline.flatMap((bin) => [bin[2], bin[3]]).filter((v) => v !== null), 0.1);
  g.fillStyle = colour("faint");
  g.fillText("verdict", LEFT - 8, top + height / 2);
  for (const [[y, tall], text, limit, unit] of [[lanes[1], "clearance", clear, "m"], [lanes[2], "age", ages, "s"]]) {
    g.strokeStyle = colour("line"); g.lineWidth = 1;
    g.strokeRect(LEFT + 0.5, y + 0.5, w - LEFT - RIGHT - 1, tall - 1);
    g.fillText(limit + " " + unit, LEFT - 8, y + 7);
    g.fillText(text, LEFT - 8, y + tall - 10);
  }
  if (data.margin > 0 && data.margin < clear) {
    const y = lanes[1][0] + lanes[1][1] * (1 - data.margin / clear);
    g.strokeStyle = colour("MARGIN"); g.setLineDash([4, 3]);
    g.beginPath(); g.moveTo(LEFT, y); g.lineTo(w - RIGHT, y); g.stroke(); g.setLineDash([]);
  }
  curve(g, w, ...lanes[1], 1, clear, "ink");
  curve(g, w, ...lanes[2], 2, ages, "age-a");
  curve(g, w, ...lanes[2], 3, ages, "age-b");
  g.textAlign = "center"; g.fillStyle = colour("faint");
  const step = ceiling([(end - begin) / Math.max(2, Math.floor((w - LEFT) / 75))], 1e-3);
  for (let t = Math.ceil(begin / step) * step; t <= end + 1e-9; t += step) {
    g.fillText(+t.toFixed(3) + " s", Math.min(xOf(t, w), w - 16), h - 10);
  }
  if (frames.length) {
    const x = xOf(frames[cursor].t, w);
    g.strokeStyle = colour("focus"); g.lineWidth = 2;
    g.beginPath(); g.moveTo(x, 0); g.lineTo(x, h - 20); g.stroke();
  }
}
