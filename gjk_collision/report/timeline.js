// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// ---- timeline: lanes one below the other, with the same time axis

const LEFT = 62, RIGHT = 12, AXIS = 22, OVERVIEW = 12;
const LEAST = Math.min(end - begin, Math.max(1e-3, 8 * (end - begin) / Math.max(count, 1)));  // least visible time [s]
const shown = { from: begin, to: end };  // visible time [s]
let hover = -1;
const backing = document.createElement("canvas");  // the lanes without the cursor

const xOf = (t, w) => LEFT + (t - shown.from) / (shown.to - shown.from) * (w - LEFT - RIGHT);
const timeAt = (x, w) => shown.from + (x - LEFT) / (w - LEFT - RIGHT) * (shown.to - shown.from);

// The worst value of each pixel of the width. `rank` is how bad a value is; 0: it is not drawn.
function perPixel(values, w, rank, scale = xOf) {
  const worst = new Int16Array(Math.max(1, Math.ceil(w))).fill(-1), ranks = new Float64Array(worst.length);
  const first = scale === xOf ? indexAt(shown.from) : 0, last = scale === xOf ? indexAt(shown.to) : count - 1;
  for (let i = first; i <= last && i < count; i++) {
    const bad = rank(values[i]);
    if (!bad) continue;
    const x0 = Math.max(LEFT, Math.floor(scale(time[i], w)));
    const x1 = Math.min(w - RIGHT, Math.max(x0 + 1, Math.ceil(i + 1 < count ? scale(time[i + 1], w) : w - RIGHT)));
    for (let x = x0; x < x1; x++) if (bad > ranks[x]) { ranks[x] = bad; worst[x] = values[i]; }
  }
  return worst;
}

function runsOf(worst, draw) {
  for (let x = 0, next = 0; x < worst.length; x = next) {
    while (next < worst.length && worst[next] === worst[x]) next++;
    if (worst[x] >= 0) draw(worst[x], x, next - x);
  }
}

const rankOf = (code) => code < 0 ? 0 : verdicts.length - timeline.worst_first.indexOf(code);

function verdictLane(g, w, y, height, values, scale) {
  runsOf(perPixel(values, w, rankOf, scale), (code, x, wide) => bar(g, verdicts[code], x, y, wide, height));
}

// ---- curves

function box(g, w, y, height) {
  g.strokeStyle = colour("line"); g.lineWidth = 1;
  g.strokeRect(LEFT + 0.5, y + 0.5, w - LEFT - RIGHT - 1, height - 1);
}

// Whether a value has no known neighbour. It is drawn as a dot, because no line leads to it.
const isKnown = (value) => value !== undefined && !Number.isNaN(value);
const isAlone = (values, i) => !isKnown(values[i - 1]) && !isKnown(values[i + 1]);

// Draws a curve; with more than two stamps per pixel the least and the greatest value of each pixel.
function curve(g, w, values, yOf, name) {
  const first = indexAt(shown.from), last = Math.min(count - 1, indexAt(shown.to) + 1);
  const dense = last - first > 2 * w;
  g.save(); g.beginPath(); g.rect(LEFT, 0, w - LEFT - RIGHT, 1e5); g.clip();
  g.strokeStyle = colour(name); g.lineWidth = 1.5; g.setLineDash(DASHES[name] || []); g.beginPath();
  let pen = false, x = NaN, low = 0, high = 0;
  const flush = () => { if (pen) { g.lineTo(x, yOf(low)); g.lineTo(x, yOf(high)); } };
  for (let i = first; i <= last; i++) {
    const value = values[i];
    if (Number.isNaN(value)) { if (dense) flush(); pen = false; continue; }  // not known: no line leads across
    const at = dense ? Math.round(xOf(time[i], w)) : xOf(time[i], w);
    if (!dense) { if (pen) g.lineTo(at, yOf(value)); else { g.moveTo(at - 0.5, yOf(value)); g.lineTo(at, yOf(value)); } }
    else if (pen && at === x) { low = Math.min(low, value); high = Math.max(high, value); }
    else { flush(); if (!pen) g.moveTo(at - 0.5, yOf(value)); x = at; low = high = value; }
    pen = true;
    if (isAlone(values, i)) { g.moveTo(at + 2, yOf(value)); g.arc(at, yOf(value), 2, 0, 7); g.moveTo(at, yOf(value)); }
  }
  if (dense) flush();
  g.stroke(); g.restore();
}

// The scale of the distance is a symmetric logarithm: about linear within LINEAR of contact.
const LINEAR = 0.02;
const [deepest, farthest] = [distance, golden ? golden.distance : []].reduce(([low, high], values) => {
  for (const value of values) { if (value < low) low = value; if (value > high) high = value; }
  return [low, high];
}, [0, Math.max(0.1, 1.2 * widest)]);

function distanceLane(g, w, y, height) {
  const low = Math.asinh(deepest / LINEAR) - 0.25, high = Math.asinh(farthest / LINEAR) + 0.25;
  const yOf = (value) => y + height * (1 - (Math.asinh(value / LINEAR) - low) / (high - low));
  if (deepest < 0) {
    g.fillStyle = colour("grid"); g.fillRect(LEFT, yOf(0), w - LEFT - RIGHT, y + height - yOf(0));
  }
  const placed = [];
  g.textAlign = "right";
  for (const tick of [0, 1, -1, 0.1, -0.1, 10, -10, 100, -100, 0.01, -0.01, 1000, -1000]) {
    const at = yOf(tick);
    if (at < y + 5 || at > y + height - 4 || placed.some((each) => Math.abs(each - at) < 13)) continue;
    placed.push(at);
    g.fillStyle = colour("faint"); g.fillText(tick + " m", LEFT - 6, at);
    g.strokeStyle = colour(tick ? "line" : "edge"); g.lineWidth = 1;
    g.beginPath(); g.moveTo(LEFT, Math.round(at) + 0.5); g.lineTo(w - RIGHT, Math.round(at) + 0.5); g.stroke();
  }
  box(g, w, y, height);
  if (widest > 0) {
    g.strokeStyle = colour("MARGIN"); g.lineWidth = 1.5; g.setLineDash([6, 4]);
    g.save(); g.beginPath(); g.rect(LEFT, y, w - LEFT - RIGHT, height); g.clip();
    g.beginPath(); g.moveTo(LEFT, yOf(data.margin));
    let last = data.margin;
    for (const { begin: t, sm } of frames) {
      if (sm === last) continue;
      g.lineTo(xOf(t, w), yOf(last)); g.lineTo(xOf(t, w), yOf(sm)); last = sm;
    }
    g.lineTo(w - RIGHT, yOf(last)); g.stroke(); g.restore(); g.setLineDash([]);
  }
  if (golden) curve(g, w, golden.distance, yOf, "purple");
  curve(g, w, distance, yOf, "ink");
}

function sourceLane(g, w, y, height, source) {
  const oldest = source.age.reduce((most, age) => age > most ? age : most, 0);
  const limit = ceiling([oldest], Math.max(source.limit || 0, 0.01));
  const yOf = (age) => y + (height - 1) * (1 - Math.max(0, Math.min(age, limit)) / limit);
  runsOf(perPixel(source.status, w, isBad), (code, x, wide) => {
    g.fillStyle = filling(g, "UNKNOWN"); g.fillRect(x, y + height - 8, wide, 8);
    const text = statusName[code];
    g.fillStyle = colour("ink"); g.textAlign = "left";
    if (g.measureText(text).width + 8 < wide) g.fillText(text, x + 4, y + 9);
  });
  box(g, w, y, height);
  g.fillStyle = colour("faint"); g.textAlign = "right"; g.fillText(+limit.toPrecision(2) + " s", LEFT - 6, y + 6);
  if (source.limit) {
    g.strokeStyle = colour("edge"); g.setLineDash([6, 4]); g.lineWidth = 1;
    g.beginPath(); g.moveTo(LEFT, yOf(source.limit)); g.lineTo(w - RIGHT, yOf(source.limit)); g.stroke(); g.setLineDash([]);
  }
  curve(g, w, source.age, yOf, "blue");
}

function requestLane(g, w, y, height) {
  box(g, w, y, height);
  for (const [t, code] of timeline.requests) {
    if (t >= shown.from && t <= shown.to) bar(g, verdicts[code], xOf(t, w) - 1.5, y, 3, height);
  }
}

// ---- changes against the golden result: a lane for each kind that occurs

const changeCounts = new Map();
if (golden) {
  for (const code of golden.change) if (code) changeCounts.set(code, (changeCounts.get(code) || 0) + 1);
  for (const [, code] of golden.other) changeCounts.set(code, (changeCounts.get(code) || 0) + 1);
}
const changeCodes = [...changeCounts.keys()].sort((a, b) => a - b);

function changeLane(g, w, y, height, code) {
  box(g, w, y, height);
  const name = golden.labels[code - 1].split(" to ")[1];
  const paint = (x, wide) => {
    g.fillStyle = LOOKS[name] ? filling(g, name) : colour("edge");
    g.fillRect(x, y + 1, Math.max(2, wide), height - 2);
    g.fillStyle = colour("ink"); g.fillRect(x, y, 1.5, height);  // its first stamp
  };
  runsOf(perPixel(golden.change, w, (each) => each === code ? 1 : 0), (_, x, wide) => paint(x, wide));
  for (const [t, each] of golden.other) {
    if (each === code && t >= shown.from && t <= shown.to) paint(xOf(t, w), 2);
  }
}

// ---- all lanes

const GAP = 9, CAPTION = 14;
const lanes = [];  // of { y, height, caption, label, draw }
function lay(height, draw, { caption = "", label = "" } = {}) {
  const above = lanes.length ? lanes[lanes.length - 1].y + lanes[lanes.length - 1].height + GAP : 2;
  lanes.push({ y: above + (caption ? CAPTION : 0), height, draw, caption, label });
}
const whole = (t, w) => LEFT + (t - begin) / (end - begin) * (w - LEFT - RIGHT);
lay(OVERVIEW, (g, w, y, height) => verdictLane(g, w, y, height, verdict, whole), { label: "all" });
if (golden) lay(22, (g, w, y, height) => verdictLane(g, w, y, height, golden.verdict), { caption: "verdict, " + data.names[0] });
lay(golden ? 22 : 34, (g, w, y, height) => verdictLane(g, w, y, height, verdict), golden ? { caption: "verdict, " + data.names[1] } : { label: "verdict" });
for (const code of changeCodes) {
  lay(10, (g, w, y, height) => changeLane(g, w, y, height, code), { caption: golden.labels[code - 1] + ": " + changeCounts.get(code) });
}
lay(innerWidth < 600 ? 100 : 150, distanceLane, { caption: "distance [m]" + (deepest < 0 ? ", below 0 penetration" : "") +
  (widest > 0 ? ", safety margin " + [...margins].join(" -> ") + " m (dashed)" : "") });
for (const source of sources) {
  if (source.isFlat) continue;
  const limit = source.limit ? ", limit " + source.limit + " s (dashed)" : "";
  lay(34, (g, w, y, height) => sourceLane(g, w, y, height, source), { caption: "age of " + source.name + limit });
}
if (timeline.requests.length) {
  lay(14, requestLane, { caption: "requests, answered again: " + timeline.requests.length });
}
const TALL = lanes[lanes.length - 1].y + lanes[lanes.length - 1].height + AXIS;
el("timeline").style.height = TALL + "px";

function drawAxis(g, w, h) {
  g.textAlign = "center"; g.fillStyle = colour("faint");
  const step = ceiling([(shown.to - shown.from) / Math.max(2, Math.floor((w - LEFT) / 75))], 1e-6);
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  for (let k = Math.ceil(shown.from / step - 1e-9); k * step <= shown.to + 1e-9; k++) {
    const text = (k * step).toFixed(digits) + " s";
    g.fillText(text, Math.min(xOf(k * step, w), w - g.measureText(text).width / 2 - 1), h - 9);
  }
}

function fitted(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  while (text && g.measureText(text + "\u2026").width > width) text = text.slice(0, -1);
  return text + "\u2026";
}

function drawTimeline() {
  const { g, w, h } = surface(el("timeline"));
  g.textBaseline = "middle";
  for (const lane of lanes) {
    g.fillStyle = colour("faint");
    g.textAlign = "left";
    if (lane.caption) g.fillText(fitted(g, lane.caption, w - LEFT - RIGHT), LEFT, lane.y - 7);
    g.textAlign = "right";
    if (lane.label) g.fillText(lane.label, LEFT - 6, lane.y + lane.height / 2);
    lane.draw(g, w, lane.y, lane.height);
  }
  drawAxis(g, w, h);
  if (shown.from > begin || shown.to < end) {  // the visible part of the whole
    g.strokeStyle = colour("focus"); g.lineWidth = 2;
    const x0 = whole(shown.from, w), x1 = Math.max(whole(shown.to, w), x0 + 3);
    g.strokeRect(x0, lanes[0].y - 1, x1 - x0, lanes[0].height + 2);
  }
  backing.width = el("timeline").width; backing.height = el("timeline").height;
  backing.getContext("2d").drawImage(el("timeline"), 0, 0);
  drawCursor();
}

function drawCursor() {
  const canvas = el("timeline"), ratio = window.devicePixelRatio || 1;
  const g = canvas.getContext("2d"), w = canvas.width / ratio, h = canvas.height / ratio;
  g.setTransform(1, 0, 0, 1, 0, 0); g.clearRect(0, 0, canvas.width, canvas.height);
  g.drawImage(backing, 0, 0); g.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (!count) return;
  const line = (i, name, width) => {
    const x = xOf(time[i], w);
    if (x < LEFT - 1 || x > w - RIGHT + 1) return;
    g.strokeStyle = colour(name); g.lineWidth = width;
    g.beginPath(); g.moveTo(x, lanes[0].y + OVERVIEW + 2); g.lineTo(x, h - AXIS + 2); g.stroke();
  };
  if (hover >= 0) line(hover, "edge", 1);
  line(stamp, "focus", 2);
  g.fillStyle = colour("focus"); g.fillRect(whole(time[stamp], w) - 1, lanes[0].y - 1, 2, OVERVIEW + 2);
  drawValues(hover >= 0 ? hover : stamp);
}

// The values at the pointer, else at the cursor.
function drawValues(i) {
  const parts = [seconds(time[i]) + ", stamp " + i * size + (size > 1 ? " to " + (Math.min((i + 1) * size, timeline.stamps) - 1) : "")];
  if (golden) parts.push(data.names[0] + ": " + answer(i, golden));
  parts.push((golden ? data.names[1] + ": " : "") + answer(i, { verdict, status, distance }));
  if (golden) parts.push("difference: " + (changeAt(i) || "none"));
  for (const { name, age, status: codes } of sources) {
    const state = statusName[codes[i]];
    parts.push(name + " " + number(known(age[i]), 3, "s") + (isBad(codes[i]) ? " " + state : ""));
  }
  el("values").replaceChildren(...parts.map((text) => Object.assign(document.createElement("span"), { textContent: text })));
  el("values").firstChild.id = "time";
}

// ---- zoom and pan in time

function show(from, to) {
  const span = Math.max(LEAST, Math.min(end - begin, to - from));
  shown.from = Math.max(begin, Math.min(end - span, from));
  shown.to = shown.from + span;
  document.documentElement.dataset.shown = shown.from.toFixed(3) + " " + shown.to.toFixed(3);
  drawTimeline();
}

function zoomTime(factor, t = count ? time[stamp] : begin) {  // t keeps its place
  show(t - (t - shown.from) / factor, t + (shown.to - t) / factor);
}

const panTime = (seconds) => show(shown.from + seconds, shown.from + seconds + (shown.to - shown.from));

function drawMoved() {  // the cursor has moved, and stays visible
  const t = count ? time[stamp] : begin, span = shown.to - shown.from;
  if (t < shown.from || t > shown.to) show(t - span / 2, t + span / 2); else drawCursor();
}

const place = (event) => {
  const rect = el("timeline").getBoundingClientRect();
  return { x: event.clientX - rect.left, y: event.clientY - rect.top, w: rect.width };
};

el("timeline").addEventListener("pointerdown", (event) => {
  const at = place(event);
  el("timeline").setPointerCapture(event.pointerId);
  if (at.y > lanes[0].y + OVERVIEW + 2) return seek(timeAt(at.x, at.w));
  const t = begin + (at.x - LEFT) / (at.w - LEFT - RIGHT) * (end - begin), half = (shown.to - shown.from) / 2;
  show(t - half, t + half);
});

el("timeline").addEventListener("pointermove", (event) => {
  const at = place(event);
  if (event.buttons && at.y > lanes[0].y + OVERVIEW + 2) return seek(timeAt(at.x, at.w));
  hover = count ? indexAt(timeAt(at.x, at.w)) : -1;
  drawCursor();
});
el("timeline").addEventListener("pointerleave", () => { hover = -1; drawCursor(); });

el("timeline").addEventListener("wheel", (event) => {
  const at = place(event), isWhole = shown.to - shown.from >= end - begin - 1e-9;
  if (isWhole && event.deltaY > 0) return;  // nothing to show: the page scrolls
  event.preventDefault();
  zoomTime(Math.exp(-event.deltaY * 0.002), timeAt(at.x, at.w));
}, { passive: false });
