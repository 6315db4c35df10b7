// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// The scene at the cursor: vehicle, obstacles, margins, velocities, axes.
const view = { x: 0, y: 0, scale: 0 };  // centre [m] and pixels per metre
const SHOWN = 20;   // rows of the table, and labels in the picture
const SMALL = 30;   // pixels: no label covers a smaller obstacle
let half = [1, 1], labels = [], kept = [];  // kept: boxes without labels
const placedIn = (frame) => frame.l.flatMap((k) => itemsOf(film.lists[k]));

function itemsOf(list) {
  return list.i ? list.i.map((id, j) => [list.k[j], list.xy[2 * j] / 1e3, list.xy[2 * j + 1] / 1e3, 0, id, list.n]) : list;
}
const screen = (x, y) => [half[0] + (x - view.x) * view.scale, half[1] - (y - view.y) * view.scale];

// [colour, dashes, width]. The dashes differ, so that the lines differ without colours.
const LINES = {
  margin: ["MARGIN", [7, 4], 2], inflation: ["faint", [2, 3], 1.5], velocity: ["blue", [], 2],
  bare: ["ink", [], 1],
  golden: ["purple", [5, 3], 2.5],
};

// ---- obstacles of a frame, with names instead of positions

function obstacleOf(frame, item) {
  const [outline, x, y, yaw, id, source, vx, vy, margin] = item, from = film.sources[source];
  return {
    outline: film.outlines[outline], x, y, yaw, id, source, from, margin: margin || 0,
    velocity: typeof vx === "number" ? [vx, vy] : null,
    age: frame.a[source] ?? null, isNearest: id === frame.id && from.sender === frame.src,
    isGolden: !!frame.g && id === frame.g.id && from.sender === frame.g.src,  // the nearest one of the golden answer
  };
}

function obstaclesOf(frame) {
  const [x, y] = frame.ego || [view.x, view.y];
  const rank = (each) => each.isNearest ? -1 : Math.hypot(each.x - x, each.y - y);
  return placedIn(frame).map((item) => obstacleOf(frame, item)).sort((a, b) => rank(a) - rank(b));
}

// ---- shapes

const reach = (outline) => outline.r + Math.max(...outline.p.map(([x, y]) => Math.hypot(x, y)));

function placed(outline, x, y, yaw) {  // corners on the screen
  const c = Math.cos(yaw), s = Math.sin(yaw);
  return outline.p.map(([px, py]) => screen(x + c * px - s * py, y + s * px + c * py));
}

function outlineOf(corners) {
  const path = new Path2D();
  for (const corner of corners) path.lineTo(...corner);
  if (corners.length === 1) path.lineTo(corners[0][0] + 0.01, corners[0][1]);  // one point has no stroke
  path.closePath();
  return path;
}

function shape(g, outline, x, y, yaw, fill, edge) {
  g.lineJoin = "round"; g.lineCap = "round";
  const path = outlineOf(placed(outline, x, y, yaw));
  if (outline.r > 0) {  // draw the radius r as a stroke of width 2 r, above a wider one as its edge
    g.setLineDash([]);
    g.strokeStyle = edge; g.lineWidth = 2 * outline.r * view.scale + 2; g.stroke(path);
    g.strokeStyle = fill; g.lineWidth = Math.max(0.5, 2 * outline.r * view.scale); g.stroke(path);
    g.fillStyle = fill; g.fill(path);
    return;
  }
  g.fillStyle = fill; g.fill(path);
  g.setLineDash([]);
  g.strokeStyle = edge; g.lineWidth = 1.25; g.stroke(path);
}

function pen(g, name) {
  const [paint, dashes, width] = LINES[name];
  g.strokeStyle = g.fillStyle = colour(paint); g.lineWidth = width; g.setLineDash(dashes);
  g.lineCap = "butt"; g.lineJoin = "round";
}

// Draws the boundary of all points within a distance of shapes: circles around the corners, and
// lines on both sides of the edges. All of these that is inside is erased.
const layer = document.createElement("canvas");
function around(g, w, h, members, name) {  // members: [corners, distance in pixels]
  const inside = members.filter(([corners, r]) => r > 0 &&
    Math.min(...corners.map(([u]) => u)) < w + r && Math.max(...corners.map(([u]) => u)) > -r &&
    Math.min(...corners.map(([, v]) => v)) < h + r && Math.max(...corners.map(([, v]) => v)) > -r);
  if (!inside.length) return;
  const ratio = window.devicePixelRatio || 1;
  layer.width = Math.round(w * ratio); layer.height = Math.round(h * ratio);
  const o = layer.getContext("2d");
  o.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen(o, name);
  for (const [corners, r] of inside) {
    corners.forEach(([u, v], i) => {
      const [a, b] = corners[(i + 1) % corners.length], long = Math.hypot(a - u, b - v);
      o.beginPath(); o.arc(u, v, r, 0, 7); o.stroke();
      if (!long) return;
      const du = (b - v) / long * r, dv = (u - a) / long * r;
      for (const side of [-1, 1]) {
        o.beginPath(); o.moveTo(u + side * du, v + side * dv); o.lineTo(a + side * du, b + side * dv); o.stroke();
      }
    });
  }
  o.globalCompositeOperation = "destination-out";
  const wide = o.lineWidth;
  o.setLineDash([]); o.lineCap = "round";
  for (const [corners, r] of inside) {
    const path = outlineOf(corners);
    o.fill(path);
    if (2 * r > wide) { o.lineWidth = 2 * r - wide; o.stroke(path); }
  }
  g.drawImage(layer, 0, 0, w, h);
}

function arrow(g, from, to) {
  const long = Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (long < 1) return;
  const a = (to[0] - from[0]) / long, b = (to[1] - from[1]) / long, tip = Math.min(9, long);
  g.beginPath(); g.moveTo(...from); g.lineTo(to[0] - a * tip, to[1] - b * tip); g.stroke();
  g.beginPath(); g.moveTo(...to);
  g.lineTo(to[0] - a * tip - b * tip / 2, to[1] - b * tip + a * tip / 2);
  g.lineTo(to[0] - a * tip + b * tip / 2, to[1] - b * tip - a * tip / 2);
  g.fill();
}

function middle(each) {  // of the corners [m]
  const c = Math.cos(each.yaw), s = Math.sin(each.yaw), n = each.outline.p.length;
  const px = each.outline.p.reduce((sum, p) => sum + p[0], 0) / n, py = each.outline.p.reduce((sum, p) => sum + p[1], 0) / n;
  return [each.x + c * px - s * py, each.y + s * px + c * py];
}

// ---- labels: at the first place that covers neither the vehicle nor another label

function vehicleOf(frame) {
  return frame.ego ? frame.f.map((k) => ({ corners: placed(film.outlines[k], ...frame.ego), r: film.outlines[k].r * view.scale })) : [];
}

const bodyOf = (each) => ({ corners: placed(each.outline, each.x, each.y, each.yaw), r: each.outline.r * view.scale });

function boxOf({ corners, r }) {
  return [Math.min(...corners.map(([u]) => u)) - r, Math.min(...corners.map(([, v]) => v)) - r,
    Math.max(...corners.map(([u]) => u)) + r, Math.max(...corners.map(([, v]) => v)) + r];
}

function label(g, w, h, text, places, vehicle) {
  const wide = g.measureText(text).width / 2 + 4, tall = 9;
  const around = vehicle.map(boxOf);
  for (const [u, v] of places) {
    const box = [u - wide, v - tall, u + wide, v + tall];
    if (box[0] < 0 || box[1] < 0 || box[2] > w || box[3] > h) continue;
    const taken = [...kept, ...around, ...labels.map((each) => each.box)];
    if (taken.some((o) => o[0] < box[2] && o[2] > box[0] && o[1] < box[3] && o[3] > box[1])) continue;
    labels.push({ text, box });
    g.globalAlpha = 0.85; g.fillStyle = colour("panel"); g.fillRect(box[0], box[1], 2 * wide, 2 * tall); g.globalAlpha = 1;
    g.fillStyle = colour("ink"); g.fillText(text, u, v);
    return;
  }
}

// ---- axes

function grid(g, w, h) {
  const step = ceiling([80 / view.scale], 1e-3), digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const [x0, y0] = film.origin, ticks = [[], []];
  g.setLineDash([]); g.strokeStyle = colour("grid"); g.lineWidth = 1; g.beginPath();
  const first = (low) => Math.ceil(low / step);
  const left = view.x + x0 - w / 2 / view.scale, low = view.y + y0 - h / 2 / view.scale;
  for (let k = first(left); k * step < left + w / view.scale; k++) {
    const u = screen(k * step - x0, 0)[0]; g.moveTo(u, 0); g.lineTo(u, h); ticks[0].push([u, (k * step).toFixed(digits)]);
  }
  for (let k = first(low); k * step < low + h / view.scale; k++) {
    const v = screen(0, k * step - y0)[1]; g.moveTo(0, v); g.lineTo(w, v); ticks[1].push([v, (k * step).toFixed(digits)]);
  }
  g.stroke();
  return { step, ticks };
}

function axes(g, w, h, { step, ticks }) {
  const write = (text, u, v) => {
    g.lineWidth = 3; g.lineJoin = "round"; g.strokeStyle = colour("panel"); g.strokeText(text, u, v);
    g.fillStyle = colour("faint"); g.fillText(text, u, v);
  };
  g.textBaseline = "middle"; g.setLineDash([]);
  const long = step / 2 * view.scale, name = +(step / 2).toPrecision(3) + " m", right = w - 12;
  g.textAlign = "center";
  for (const [u, text] of ticks[0]) if (u > 50 && u < right - long - 20) write(text, u, h - 9);
  g.textAlign = "left";
  for (const [v, text] of ticks[1]) if (v > 30 && v < h - 24) write(text, 4, v);
  write("x right, y up, in m" + (data.frame ? ", frame " + data.frame : ""), 6, 12);
  g.strokeStyle = colour("ink"); g.lineWidth = 2; g.beginPath();  // the scale bar
  g.moveTo(right - long, h - 20); g.lineTo(right - long, h - 8); g.moveTo(right - long, h - 14);
  g.lineTo(right, h - 14); g.moveTo(right, h - 20); g.lineTo(right, h - 8); g.stroke();
  g.textAlign = "center"; write(name, right - long / 2, h - 26);
}

// ---- the picture

function extent(frame) {  // of the vehicle and of what is near, whatever a region or a map measures
  const { ego, w } = frame, size = Math.max(0, ...frame.f.map((k) => reach(film.outlines[k])));
  const gap = w.length === 4 ? Math.hypot(w[2] - w[0], w[3] - w[1]) : 0;
  const near = ego ? Math.max(6 * size, size + 1.3 * Math.min(gap, 50), 3) : Infinity;
  let box = null;
  const add = (x, y, r) => {
    const clip = (value, k) => ego ? Math.min(Math.max(value, ego[k] - near), ego[k] + near) : value;
    const own = [clip(x - r, 0), clip(y - r, 1), clip(x + r, 0), clip(y + r, 1)];
    box = box ? own.map((value, k) => (k < 2 ? Math.min : Math.max)(box[k], value)) : own;
  };
  if (ego) add(ego[0], ego[1], size + frame.sm);
  for (const [k, x, y] of placedIn(frame)) {
    const r = reach(film.outlines[k]);
    if (!ego || Math.hypot(x - ego[0], y - ego[1]) - r < near) add(x, y, r);
  }
  return box || [-10, -10, 10, 10];
}

function fit() {
  if (!frames.length) return;
  const now = frames[cursor], shown = placedIn(now).length ? now : frames.find((each) => placedIn(each).length) || now;
  const box = extent({ ...shown, ego: now.ego }), size = el("scene").getBoundingClientRect(), ego = now.ego;
  [view.x, view.y] = ego || [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
  const wide = Math.max(view.x - box[0], box[2] - view.x), tall = Math.max(view.y - box[1], box[3] - view.y);
  view.scale = Math.max(0.5, 0.46 * Math.min(size.width / wide, size.height / tall));
}

function drawVehicle(g, w, h, frame) {
  if (!frame.ego) return;
  g.globalAlpha = 0.75;
  for (const k of frame.f) shape(g, film.outlines[k], ...frame.ego, filling(g, verdicts[frame.v]), colour("ink"));
  g.globalAlpha = 1;
  for (const k of frame.bare) { pen(g, "bare"); g.stroke(outlineOf(placed(film.outlines[k], ...frame.ego))); }
  if (frame.sm > 0) {
    const grown = vehicleOf(frame).map(({ corners, r }) => [corners, r + frame.sm * view.scale]);
    around(g, w, h, grown, "margin");
  }
  const [x, y, yaw] = frame.ego, length = 14 / view.scale;  // which way it points
  g.setLineDash([]); g.strokeStyle = colour("ink"); g.lineWidth = 2; g.beginPath();
  g.moveTo(...screen(x, y)); g.lineTo(...screen(x + length * Math.cos(yaw), y + length * Math.sin(yaw))); g.stroke();
}

function drawBodies(g, obstacles) {
  for (const each of obstacles) {
    shape(g, each.outline, each.x, each.y, each.yaw, colour("body"), colour(each.isNearest ? "ink" : "edge"));
  }
}

function drawObstacles(g, w, h, obstacles, frame) {
  drawBodies(g, obstacles);
  const grown = (more, chosen, name) => around(g, w, h, obstacles.filter(chosen).map((each) =>
    [placed(each.outline, each.x, each.y, each.yaw), (each.outline.r + more(each)) * view.scale]), name);
  grown((each) => each.from.inflation, (each) => each.from.inflation > 0, "inflation");
  grown((each) => each.from.inflation + each.margin, (each) => each.margin > 0, "margin");
  for (const each of obstacles) {
    if (!each.velocity || Math.hypot(...each.velocity) === 0) continue;
    const [x, y] = middle(each), [vx, vy] = each.velocity;
    pen(g, "velocity"); arrow(g, screen(x, y), screen(x + vx, y + vy));  // the way of 1 s
  }
  g.setLineDash([]);
}

function labelWitness(g, w, h, witness, text, vehicle) {
  const a = screen(witness[0], witness[1]), b = screen(witness[2], witness[3]);
  const long = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1, places = [];
  const aside = Math.max(34, g.measureText(text).width / 2 + 14);
  for (const far of [1, 1.6, 2.4, 3.4, 5, 8]) for (const way of [1, -1]) for (const end of [0.5, 1, 0]) {  // beside it
    places.push([a[0] + end * (b[0] - a[0]) + way * far * (b[1] - a[1]) / long * aside, a[1] + end * (b[1] - a[1]) - way * far * (b[0] - a[0]) / long * 22]);
  }
  label(g, w, h, text, places, vehicle);
}

function drawWitness(g, w, h, frame, vehicle) {
  if (frame.w.length !== 4) return;
  const a = screen(frame.w[0], frame.w[1]), b = screen(frame.w[2], frame.w[3]);
  g.setLineDash([]); g.strokeStyle = g.fillStyle = colour("ink"); g.lineWidth = 1.5;
  g.beginPath(); g.moveTo(...a); g.lineTo(...b); g.stroke();
  for (const p of [a, b]) { g.beginPath(); g.arc(...p, 3, 0, 7); g.fill(); }
  labelWitness(g, w, h, frame.w, number(frame.d, 2, "m"), vehicle);
}

// The golden answer, below this one: dashes that are wider, and rings around larger dots. So both are visible where they agree.
function drawGolden(g, w, h, frame, obstacles) {
  const other = frame.g;
  if (!other || other.v === undefined) return;
  pen(g, "golden");
  if (other.w.length === 4) {
    const a = screen(other.w[0], other.w[1]), b = screen(other.w[2], other.w[3]);
    g.lineWidth = 6; g.beginPath(); g.moveTo(...a); g.lineTo(...b); g.stroke();
    pen(g, "golden"); g.setLineDash([]);
    for (const p of [a, b]) { g.beginPath(); g.arc(...p, 7, 0, 7); g.stroke(); }
  }
  const nearest = obstacles.filter((each) => each.isGolden);
  around(g, w, h, nearest.map((each) => [placed(each.outline, each.x, each.y, each.yaw), each.outline.r * view.scale + 4]), "golden");
}

function drawScene() {
  const { g, w, h } = surface(el("scene"));
  half = [w / 2, h / 2];
  if (!frames.length) {
    g.fillStyle = colour("faint"); g.textAlign = "center";
    g.fillText("this replay has no stamp", w / 2, h / 2);
    return;
  }
  const frame = frames[cursor], obstacles = obstaclesOf(frame);
  if (frame.ego) [view.x, view.y] = frame.ego;
  const lines = grid(g, w, h);
  drawObstacles(g, w, h, obstacles, frame);
  drawVehicle(g, w, h, frame);
  const size = Math.max(0, ...frame.f.map((k) => reach(film.outlines[k])));
  for (const each of obstacles.filter((each) => each.isNearest)) {  // above the vehicle, which is seen through a large one
    g.globalAlpha = reach(each.outline) < size / 2 ? 1 : 0.6;
    drawBodies(g, [each]);
  }
  g.globalAlpha = 1;
  drawGolden(g, w, h, frame, obstacles);
  g.textAlign = "center"; g.textBaseline = "middle";
  labels = [];
  kept = [[0, 0, 200, 22], [w - 32 - lines.step / 2 * view.scale, h - 34, w, h]];  // of the axes
  for (const each of obstacles.slice(0, SHOWN)) {
    if (reach(each.outline) * view.scale < SMALL) kept.push(boxOf(bodyOf(each)));
  }
  g.textAlign = "center";
  const vehicle = vehicleOf(frame), named = new Set();
  drawWitness(g, w, h, frame, vehicle);
  if (frame.g && frame.g.w && frame.g.w.length === 4 && String(frame.g.w) !== String(frame.w)) {
    labelWitness(g, w, h, frame.g.w, number(frame.g.d, 2, "m") + " " + data.names[0].slice(0, 12), vehicle);
  }
  const owners = new Map(), centres = obstacles.map((each) => screen(...middle(each)));
  for (const each of obstacles) owners.set(each.id, (owners.get(each.id) || new Set()).add(each.source));
  for (const each of obstacles) {
    const name = each.id + " " + each.source, [u, v] = screen(...middle(each));
    if (view.scale <= 5 || named.size >= SHOWN || named.has(name) || u < 0 || v < 0 || u > w || v > h) continue;
    named.add(name);
    const moves = each.velocity && Math.hypot(...each.velocity) > 0;
    const text = (owners.get(each.id).size > 1 ? each.id + " " + each.from.source : each.id) + (moves ? ": " + number(Math.hypot(...each.velocity), 2, "m/s") : ""), size = reach(each.outline) * view.scale;
    const box = boxOf(bodyOf(each)), back = moves && each.velocity[1] > 0 ? 1 : -1;  // behind the arrow
    const far = size > SMALL ? 16 : (box[3] - box[1]) / 2 + 11, wide = Math.min((box[2] - box[0]) / 2, SMALL) + g.measureText(text).width / 2 + 6;
    const places = [...(moves || size < SMALL ? [] : [[0, 0]]), [0, far * back], [0, -far * back], [wide, 0], [-wide, 0]].map(([du, dv]) => [u + du, v + dv]);
    const isOwn = ([x, y]) => centres.every(([a, b]) => Math.hypot(a - x, b - y) >= Math.hypot(u - x, v - y) - 1e-6);
    label(g, w, h, text, places.filter(isOwn), vehicle);
  }
  axes(g, w, h, lines);
  drawTable(obstacles);
}

// ---- the table of obstacles, nearest first

function drawTable(obstacles) {
  const named = new Map();  // the boundary of a region has many pieces
  for (const each of obstacles) {
    const name = each.id + " " + each.source;
    if (!named.has(name)) named.set(name, each);
  }
  el("obstacles").replaceChildren(...[...named.values()].slice(0, SHOWN).map((each) => {
    const row = document.createElement("tr"), [x0, y0] = film.origin;
    const note = [each.isNearest && "nearest", each.isGolden && "nearest of " + data.names[0]].filter(Boolean).join(", ");
    const texts = [each.id + (note ? " (" + note + ")" : ""), each.from.source, each.from.sender,
      each.from.frame, (each.x + x0).toFixed(3), (each.y + y0).toFixed(3),
      each.velocity ? Math.hypot(...each.velocity).toFixed(2) : "unknown", each.from.inflation.toFixed(3),
      each.age === null ? "static" : each.age.toFixed(3)];
    row.append(...texts.map((text) => { const cell = document.createElement("td"); cell.textContent = text; return cell; }));
    return row;
  }));
  el("more").textContent = named.size > SHOWN ? "The " + SHOWN + " nearest of " + named.size + " obstacles." : "";
}

// ---- legend

function drawSceneLegend() {
  const names = {
    margin: "safety margin" + (margins.size > 1 ? "" : ", " + number(data.margin, 2, "m")), inflation: "inflation of the source",
    velocity: "velocity: way in 1 s",
    bare: "vehicle without directional margins",
    golden: golden && "answer of " + data.names[0] + ": closest points, nearest obstacle",
  };
  const used = {
    margin: widest > 0 || film.lists.some((list) => !list.i && list.some((each) => each.length > 8)),
    inflation: film.sources.some((each) => each.inflation > 0),
    velocity: film.lists.some((list) => !list.i && list.some((each) => each[6] || each[7])),
    bare: frames.some((frame) => frame.bare.length),
    golden: frames.some((frame) => frame.g && frame.g.v !== undefined),
  };
  el("scene-legend").replaceChildren(...Object.keys(LINES).filter((name) => used[name]).map((name) => {
    const entry = document.createElement("span"), canvas = document.createElement("canvas");
    canvas.className = "key"; canvas.width = 30; canvas.height = 14; canvas.style.width = "30px";
    const g = canvas.getContext("2d");
    pen(g, name);
    if (name === "velocity") arrow(g, [0, 7], [30, 7]); else { g.beginPath(); g.moveTo(0, 7); g.lineTo(30, 7); g.stroke(); }
    entry.append(canvas, names[name]);
    return entry;
  }));
}

// ---- zoom; Foxglove shows the exported answers from everywhere

function zoom(factor) {
  view.scale = Math.max(0.05, Math.min(5000, view.scale * factor));
  drawScene();
}
