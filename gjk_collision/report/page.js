// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
const data = JSON.parse(document.getElementById("data").textContent);
const { verdicts, timeline, film } = data;
const frames = film.frames;
const el = (id) => document.getElementById(id);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const number = (value, digits, unit) => value === null || value === undefined ? "-"
  : value.toFixed(digits).replace(/^-(0\.?0*)$/, "$1") + " " + unit;  // never -0

const seconds = (t) => t.toFixed(6).replace(/0{1,3}$/, "") + " s";  // to the microsecond, as seek() reads it

let cursor = 0, playing = 0;

// ---- drawing surfaces

function surface(canvas) {
  const ratio = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
  const width = Math.max(1, Math.round(box.width * ratio)), height = Math.max(1, Math.round(box.height * ratio));
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, box.width, box.height);
  g.font = "12px system-ui, 'DejaVu Sans', sans-serif";
  return { g, w: box.width, h: box.height };
}

// ---- timeline: verdicts, distance and ages, one below the other, with the same time axis

const LEFT = 78, RIGHT = 12;
const begin = timeline.length ? timeline[0][0] : 0;
const end = Math.max(film.end, begin + 1e-3);
const xOf = (t, w) => LEFT + (t - begin) / (end - begin) * (w - LEFT - RIGHT);

// Height and pattern tell the verdicts apart without colours.
const LOOKS = {
  FREE: [0.4, []], MARGIN: [0.6, [[0, 8, 8, 0]]], UNKNOWN: [0.8, [[3, 3, 5, 3]]], COLLISION: [1.0, [[0, 8, 8, 0], [0, 0, 8, 8]]],
};
const DASHES = { "age-a": [], "age-b": [5, 3] };

function filling(g, name) {
  const tile = document.createElement("canvas"), size = 8, lines = LOOKS[name][1];
  tile.width = tile.height = size;
  const t = tile.getContext("2d");
  t.fillStyle = colour(name); t.fillRect(0, 0, size, size);
  t.strokeStyle = colour("mark"); t.lineWidth = lines.length && lines[0][1] === lines[0][3] ? 2 : 1;
  for (const [x0, y0, x1, y1] of lines) {
    for (const way of [-size, 0, size]) { t.beginPath(); t.moveTo(x0 + way, y0); t.lineTo(x1 + way, y1); t.stroke(); }
  }
  return g.createPattern(tile, "repeat");
}

function bar(g, name, x, y, width, height) {
  const tall = height * LOOKS[name][0];
  g.fillStyle = filling(g, name);
  g.fillRect(x, y + height - tall, width, tall);
}

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

function ceiling(values, least) {
  const top = Math.max(least, ...values);
  const unit = 10 ** Math.floor(Math.log10(top));
  return [1, 2, 5, 10].map((k) => k * unit).find((k) => k >= top * 0.999);
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

// ---- what is known at the cursor

function drawFacts() {
  if (!frames.length) return;
  const frame = frames[cursor], list = el("facts");
  list.replaceChildren();
  const add = (name, value) => {
    const dt = document.createElement("dt"), dd = document.createElement("dd");
    dt.textContent = name;
    if (value instanceof Node) dd.append(value); else dd.textContent = value;
    list.append(dt, dd);
  };
  const verdict = document.createElement("strong");
  verdict.append(key(verdicts[frame.v]), verdicts[frame.v]);
  add("verdict", verdict);
  add("status", frame.s);
  if (frame.m) add("message", frame.m);
  add("distance", number(frame.d, 4, "m"));
  add("lower bound", number(frame.lb, 4, "m"));
  add("nearest", frame.id === -1 ? "-" : frame.id + " of " + frame.src);
  if (frame.w.length === 4) {
    add("on the vehicle", placeText(frame.w[0], frame.w[1]) + inFrame());
    add("on the obstacle", placeText(frame.w[2], frame.w[3]) + inFrame());
    add("direction", frame.dir.map((v) => v.toFixed(4)).join(", ") + " (unit vector" + inFrame() + ")");
  }
  if (frame.ego) {
    const [x, y, yaw] = frame.ego;
    add("vehicle", placeText(x, y) + ", yaw " + yaw.toFixed(4) + " rad" + inFrame());
  }
  if (frame.path) add("path request", verdicts[frame.path.v] + ", answered " + number(frame.path.age, 3, "s") + " before");
  add("footprint age", number(frame.fa, 3, "s"));
  add("obstacle age", number(frame.oa, 3, "s"));
  add("bad sources", frame.bad.length ? frame.bad.join(", ") : "none");
  add("snapshot", frame.snap);
  el("time").textContent = seconds(frame.t) + ", stamp " + frame.i +
    (frame.n > 1 ? ", the worst of stamps " + frame.first + " to " + (frame.first + frame.n - 1) : "");
  const slider = el("timeline");
  slider.setAttribute("aria-valuemax", frames.length - 1);
  slider.setAttribute("aria-valuenow", cursor);
  slider.setAttribute("aria-valuetext", seconds(frame.t) + ", " + verdicts[frame.v]);
}

function drawLatency() {
  const { g, w, h } = surface(el("latency")), bins = data.latency.bins;
  if (!bins.length) return;
  const most = Math.max(...bins.map((bin) => bin[1])), wide = (w - 16) / bins.length;
  g.fillStyle = colour("age-a");
  bins.forEach(([, count], i) => {
    // The bars show the square root of the counts, so that single slow answers are visible.
    const tall = Math.sqrt(count / most) * (h - 30);
    g.fillRect(8 + i * wide, h - 22 - tall, Math.max(1, wide - 1), tall);
  });
  g.fillStyle = colour("faint"); g.textAlign = "center"; g.textBaseline = "middle";
  bins.forEach(([edge], i) => {
    const decade = Math.abs(Math.log10(edge) - Math.round(Math.log10(edge))) < 0.01;
    if (decade) g.fillText(edge >= 1000 ? edge / 1000 + " ms" : +edge.toPrecision(2) + " µs", 8 + i * wide, h - 9);
  });
  el("latencies").textContent = "median " + data.latency.p50 + " µs, 99 % " + data.latency.p99 +
    " µs, maximum " + data.latency.max + " µs, on the machine of the replay";
}

// ---- legend

function key(name) {  // a bar as in the timeline, or a piece of a curve
  const canvas = document.createElement("canvas"), width = 22, height = 14;
  canvas.className = "key"; canvas.width = width; canvas.height = height;
  const g = canvas.getContext("2d");
  if (LOOKS[name]) { bar(g, name, 0, 0, width, height); return canvas; }
  g.strokeStyle = colour(name); g.lineWidth = 2; g.setLineDash(DASHES[name]);
  g.beginPath(); g.moveTo(0, height / 2); g.lineTo(width, height / 2); g.stroke();
  return canvas;
}

function drawLegend() {
  const names = { "age-a": "obstacle age", "age-b": "footprint age" };
  el("legend").replaceChildren(...[...verdicts, ...Object.keys(names)].map((name) => {
    const entry = document.createElement("span");
    entry.append(key(name), names[name] || name);
    return entry;
  }));
}

// ---- moving about

function draw() { drawTimeline(); drawScene(); drawFacts(); }

function go(index) {
  cursor = Math.max(0, Math.min(frames.length - 1, index));
  if (frames.length) document.documentElement.dataset.time = frames[cursor].t;
  draw();
}

// Shows the frame of the last stamp at or before t, as trace --at does: the answer that holds at t.
function seek(t) {
  let low = 0, high = frames.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (frames[middle].begin <= t + 5e-7) low = middle; else high = middle - 1;
  }
  go(low);
}

function change(way) {
  for (let i = cursor + way; i > 0 && i < frames.length; i += way) {
    if (frames[i].v !== frames[i - 1].v) return go(i);
  }
  go(way > 0 ? frames.length - 1 : 0);
}

function play() {
  if (playing) { playing = 0; el("play").textContent = "Play"; return; }
  if (cursor >= frames.length - 1) cursor = 0;
  let last = performance.now(), t = frames.length ? frames[cursor].begin : 0;
  const mine = playing = last;
  el("play").textContent = "Pause";
  const tick = (now) => {
    if (playing !== mine) return;
    t += (now - last) * 1e-3 * Number(el("speed").value);
    last = now;
    seek(t);
    if (cursor >= frames.length - 1) play(); else requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const inScene = event.target === el("scene"), far = event.shiftKey ? 10 : 1;
  const keys = {
    ArrowLeft: () => inScene ? pan(-40, 0) : go(cursor - far),
    ArrowRight: () => inScene ? pan(40, 0) : go(cursor + far),
    ArrowUp: inScene && (() => pan(0, 40)),
    ArrowDown: inScene && (() => pan(0, -40)),
    Home: () => go(0), End: () => go(frames.length - 1),
    n: () => change(1), p: () => change(-1), f: () => setFollow(!follow),
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8),
    0: () => { setFollow(false); fit(); drawScene(); },
    " ": event.target.tagName !== "BUTTON" && event.target.tagName !== "INPUT" && play,
  };
  const act = keys[event.key];
  if (act) { event.preventDefault(); act(); }
});

for (const [id, act] of Object.entries({
  back: () => go(cursor - 1), forward: () => go(cursor + 1), play, next: () => change(1), previous: () => change(-1),
  in: () => zoom(1.25), out: () => zoom(0.8), fit: () => { setFollow(false); fit(); drawScene(); },
})) el(id).addEventListener("click", act);
el("follow").addEventListener("change", (event) => setFollow(event.target.checked));

const atPointer = (event) => {
  const box = el("timeline").getBoundingClientRect();
  seek(begin + (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT) * (end - begin));
};
el("timeline").addEventListener("pointerdown", (event) => { el("timeline").setPointerCapture(event.pointerId); atPointer(event); });
el("timeline").addEventListener("pointermove", (event) => { if (event.buttons) atPointer(event); });
listenToScene();
window.addEventListener("resize", () => { draw(); drawLatency(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { draw(); drawLatency(); drawLegend(); drawSceneLegend(); });
fit();
const asked = /^#t=([\d.]+)$/.exec(location.hash);  // page.html#t=12.5
if (asked) seek(Number(asked[1])); else go(0);
drawLatency();
drawLegend();
drawSceneLegend();
document.documentElement.dataset.ready = "yes";
