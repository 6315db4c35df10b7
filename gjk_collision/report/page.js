// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
let stamp = 0, cursor = 0, playing = 0, follow = true;  // cursor: the frame of the stamp
const view = { x: 0, y: 0, scale: 0 };  // centre [m] and pixels per metre

// ---- scene

function trace(g, outline, x, y, yaw) {
  const c = Math.cos(yaw), s = Math.sin(yaw);
  g.beginPath();
  if (outline.p.length === 1) {  // a path of one point has no stroke, so draw a circle
    const [u, v] = screen(x + c * outline.p[0][0] - s * outline.p[0][1], y + s * outline.p[0][0] + c * outline.p[0][1]);
    g.arc(u, v, 0.1, 0, 7);
  } else for (const [px, py] of outline.p) {
    const [u, v] = screen(x + c * px - s * py, y + s * px + c * py);
    g.lineTo(u, v);
  }
  g.closePath();
}

let half = [1, 1];
const screen = (x, y) => [half[0] + (x - view.x) * view.scale, half[1] - (y - view.y) * view.scale];

function shape(g, outline, x, y, yaw, fill, edge, dashed) {
  g.lineJoin = "round"; g.lineCap = "round";
  trace(g, outline, x, y, yaw);
  if (outline.r > 0) {  // draw the radius r as a stroke of width 2 r, above a wider one as its edge
    g.setLineDash([]);
    g.strokeStyle = edge; g.lineWidth = 2 * outline.r * view.scale + 2; g.stroke();
    g.strokeStyle = fill; g.lineWidth = Math.max(0.5, 2 * outline.r * view.scale); g.stroke();
    g.fillStyle = fill; g.fill();
    return;
  }
  g.fillStyle = fill; g.fill();
  g.setLineDash(dashed ? [5, 4] : []);
  g.strokeStyle = edge; g.lineWidth = 1.25; g.stroke();
  g.setLineDash([]);
}

function extent(frame) {
  let box = null;
  const add = (x, y, r) => {
    box = box ? [Math.min(box[0], x - r), Math.min(box[1], y - r), Math.max(box[2], x + r), Math.max(box[3], y + r)]
      : [x - r, y - r, x + r, y + r];
  };
  const reach = (outline) => outline.r + Math.max(...outline.p.map(([x, y]) => Math.hypot(x, y)));
  if (frame.ego) for (const k of frame.f) add(frame.ego[0], frame.ego[1], reach(film.outlines[k]));
  for (const [k, x, y] of frame.o) {
    // Ignore obstacles far from the vehicle, so that it does not become too small.
    if (!frame.ego || Math.hypot(x - frame.ego[0], y - frame.ego[1]) < 25) add(x, y, reach(film.outlines[k]));
  }
  return box || [-10, -10, 10, 10];
}

function fit() {
  if (!frames.length) return;
  const box = extent(frames[cursor]), size = el("scene").getBoundingClientRect();
  view.x = (box[0] + box[2]) / 2; view.y = (box[1] + box[3]) / 2;
  view.scale = Math.max(0.5, 0.92 * Math.min(size.width / (box[2] - box[0]), size.height / (box[3] - box[1])));
}

function drawScene() {
  const { g, w, h } = surface(el("scene"));
  half = [w / 2, h / 2];
  if (!frames.length) {
    g.fillStyle = colour("faint"); g.textAlign = "center";
    g.fillText("this replay has no stamp", w / 2, h / 2);
    return;
  }
  const frame = frames[cursor];
  if (follow && frame.ego) { view.x = frame.ego[0]; view.y = frame.ego[1]; }
  const step = ceiling([60 / view.scale], 1e-3);
  g.strokeStyle = colour("grid"); g.lineWidth = 1; g.beginPath();
  for (let x = Math.ceil((view.x - w / 2 / view.scale) / step) * step; (x - view.x) * view.scale < w / 2; x += step) {
    const u = screen(x, 0)[0]; g.moveTo(u, 0); g.lineTo(u, h);
  }
  for (let y = Math.ceil((view.y - h / 2 / view.scale) / step) * step; (y - view.y) * view.scale < h / 2; y += step) {
    const v = screen(0, y)[1]; g.moveTo(0, v); g.lineTo(w, v);
  }
  g.stroke();
  g.textAlign = "center"; g.textBaseline = "middle";
  const verdict = colour(verdicts[frame.v]);
  for (const [k, x, y, yaw, id, bad, sender] of frame.o) {
    const isNearest = id === frame.id && sender === frame.src;
    shape(g, film.outlines[k], x, y, yaw, colour("body"), isNearest ? verdict : colour("edge"), bad);
    const [u, v] = screen(x, y);
    if (view.scale > 5 && u > 0 && v > 0 && u < w && v < h) { g.fillStyle = colour("ink"); g.fillText(id, u, v); }
  }
  if (frame.ego) {
    g.globalAlpha = 0.75;
    for (const k of frame.f) shape(g, film.outlines[k], ...frame.ego, filling(g, verdicts[frame.v]), colour("ink"), false);
    g.globalAlpha = 1;
    const [x, y, yaw] = frame.ego, length = 14 / view.scale;  // which way it points
    g.strokeStyle = colour("ink"); g.lineWidth = 2; g.beginPath();
    g.moveTo(...screen(x, y)); g.lineTo(...screen(x + length * Math.cos(yaw), y + length * Math.sin(yaw))); g.stroke();
  }
  if (frame.w.length === 4) {
    const a = screen(frame.w[0], frame.w[1]), b = screen(frame.w[2], frame.w[3]);
    g.strokeStyle = g.fillStyle = colour("ink"); g.lineWidth = 1.5;
    g.beginPath(); g.moveTo(...a); g.lineTo(...b); g.stroke();
    for (const p of [a, b]) { g.beginPath(); g.arc(...p, 3, 0, 7); g.fill(); }
    const text = number(frame.d, 2, "m"), wide = g.measureText(text).width + 10;
    const long = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1, way = b[0] >= a[0] ? 1 : -1;  // beside it, above
    const u = (a[0] + b[0]) / 2 + way * (b[1] - a[1]) / long * 34, v = (a[1] + b[1]) / 2 - way * (b[0] - a[0]) / long * 22;
    g.fillStyle = colour("panel"); g.fillRect(u - wide / 2, v - 9, wide, 18);
    g.fillStyle = colour("ink"); g.fillText(text, u, v);
  }
  g.strokeStyle = g.fillStyle = colour("faint"); g.lineWidth = 2; g.beginPath();
  g.moveTo(14, h - 14); g.lineTo(14 + step * view.scale, h - 14); g.stroke();
  g.textAlign = "left"; g.fillText(+step.toPrecision(3) + " m", 14, h - 26);
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
    const [x0, y0] = film.origin, point = (x, y) => (x + x0).toFixed(3) + ", " + (y + y0).toFixed(3);
    add("on the vehicle", point(frame.w[0], frame.w[1]));
    add("on the obstacle", point(frame.w[2], frame.w[3]));
    add("direction", frame.dir.map((v) => v.toFixed(4)).join(", "));
  }
  if (frame.ego) {
    const [x, y, yaw] = frame.ego, [x0, y0] = film.origin;
    add("vehicle", (x + x0).toFixed(3) + ", " + (y + y0).toFixed(3) + ", " + yaw.toFixed(4) + " rad");
  }
  add("footprint age", number(frame.fa, 3, "s"));
  add("obstacle age", number(frame.oa, 3, "s"));
  add("bad sources", frame.bad.length ? frame.bad.join(", ") : "none");
  add("snapshot", frame.snap);
  el("which").textContent = frame.n > 1 ? "The scene and these values are those of stamp " + frame.i + " at " +
    seconds(frame.t) + ", the worst of stamps " + frame.first + " to " + (frame.first + frame.n - 1) + "." : "";
  if (!count) return;
  const slider = el("timeline");
  slider.setAttribute("aria-valuemax", count - 1);
  slider.setAttribute("aria-valuenow", stamp);
  slider.setAttribute("aria-valuetext", seconds(time[stamp]) + ", " + answer(stamp, { verdict, status, distance }) +
    (changeAt(stamp) ? ", " + changeAt(stamp) : ""));
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

function drawLegend() {
  const names = { ink: "distance", ...(golden && { "age-b": "distance, " + data.names[0] }), "age-a": "age" };
  el("legend").replaceChildren(...[...verdicts, ...Object.keys(names)].map((name) => {
    const entry = document.createElement("span");
    entry.append(key(name), names[name] || name);
    return entry;
  }));
}

// ---- moving about

function draw() { drawTimeline(); drawScene(); drawFacts(); drawBoth(); }

// Moves the cursor to a stamp, and shows the frame of the last stamp at or before t.
function go(index, t) {
  stamp = Math.max(0, Math.min(count - 1, index));
  if (count) document.documentElement.dataset.time = +time[stamp].toFixed(6);
  const at = t === undefined && count ? time[stamp] : t || 0;
  let low = 0, high = frames.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (frames[middle].begin <= at + 5e-7) low = middle; else high = middle - 1;
  }
  cursor = low;
  drawMoved(); drawScene(); drawFacts(); drawBoth();
}

// Shows the last stamp at or before t, as trace --at does: the answer that holds at t.
function seek(t) { go(indexAt(t), t); }

function change(way) {
  for (let i = stamp + way; i > 0 && i < count; i += way) {
    if (verdict[i] !== verdict[i - 1]) return go(i);
  }
  go(way > 0 ? count - 1 : 0);
}

function play() {
  if (playing) { playing = 0; el("play").textContent = "Play"; return; }
  if (stamp >= count - 1) stamp = 0;
  let last = performance.now(), t = count ? time[stamp] : 0;
  const mine = playing = last;
  el("play").textContent = "Pause";
  const tick = (now) => {
    if (playing !== mine) return;
    t += (now - last) * 1e-3 * Number(el("speed").value);
    last = now;
    seek(t);
    if (stamp >= count - 1) play(); else requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}

function zoom(factor, u, v) {
  const x = u === undefined ? view.x : view.x + (u - half[0]) / view.scale;
  const y = v === undefined ? view.y : view.y - (v - half[1]) / view.scale;
  view.scale = Math.max(0.05, Math.min(5000, view.scale * factor));
  if (u !== undefined) { view.x = x - (u - half[0]) / view.scale; view.y = y + (v - half[1]) / view.scale; }
  drawScene();
}

function setFollow(on) { follow = on; el("follow").checked = on; drawScene(); }

function pan(dx, dy) { setFollow(false); view.x += dx / view.scale; view.y += dy / view.scale; drawScene(); }

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const inScene = event.target === el("scene"), far = event.shiftKey ? 10 : 1;
  const inTime = event.target === el("timeline"), half = (shown.to - shown.from) / 2;
  const keys = {
    ArrowLeft: () => inScene ? pan(-40, 0) : go(stamp - far),
    ArrowRight: () => inScene ? pan(40, 0) : go(stamp + far),
    ArrowUp: inScene && (() => pan(0, 40)),
    ArrowDown: inScene && (() => pan(0, -40)),
    Home: () => go(0), End: () => go(count - 1),
    PageUp: inTime && (() => { panTime(-half); seek(time[stamp] - half); }),
    PageDown: inTime && (() => { panTime(half); seek(time[stamp] + half); }),
    n: () => change(1), p: () => change(-1), d: () => difference(1), D: () => difference(-1), f: () => setFollow(!follow),
    "+": () => inTime ? zoomTime(1.5) : zoom(1.25), "=": () => inTime ? zoomTime(1.5) : zoom(1.25),
    "-": () => inTime ? zoomTime(1 / 1.5) : zoom(0.8),
    0: () => { if (inTime) show(begin, end); else { setFollow(false); fit(); drawScene(); } },
    " ": event.target.tagName !== "BUTTON" && event.target.tagName !== "INPUT" && play,
  };
  const act = keys[event.key];
  if (act) { event.preventDefault(); act(); }
});

for (const [id, act] of Object.entries({
  back: () => go(stamp - 1), forward: () => go(stamp + 1),
  "time-in": () => zoomTime(1.5), "time-out": () => zoomTime(1 / 1.5), "time-whole": () => show(begin, end),
  play, next: () => change(1), previous: () => change(-1),
  in: () => zoom(1.25), out: () => zoom(0.8), fit: () => { setFollow(false); fit(); drawScene(); },
})) el(id).addEventListener("click", act);
el("follow").addEventListener("change", (event) => setFollow(event.target.checked));

el("scene").addEventListener("pointerdown", (event) => el("scene").setPointerCapture(event.pointerId));
el("scene").addEventListener("pointermove", (event) => { if (event.buttons) pan(-event.movementX, event.movementY); });
el("scene").addEventListener("wheel", (event) => {
  event.preventDefault();
  const box = el("scene").getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
}, { passive: false });

window.addEventListener("resize", () => { draw(); drawLatency(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { fillings.clear(); draw(); drawLatency(); drawLegend(); });
fit();
drawTimeline();
const asked = () => {  // page.html#t=12.5
  const found = /^#t=(-?[\d.]+)$/.exec(location.hash);
  if (found) seek(Number(found[1]));
  return found;
};
window.addEventListener("hashchange", asked);
document.addEventListener("click", (event) => {  // also a link that was followed before
  const link = event.target.closest('a[href^="#t="]');
  if (!link) return;
  seek(Number(link.hash.slice(3)));
  el("timeline").scrollIntoView({ block: "nearest" });
  el("timeline").focus({ preventScroll: true });
});
if (!asked()) go(0);
drawLatency();
drawLegend();
document.documentElement.dataset.ready = "yes";
