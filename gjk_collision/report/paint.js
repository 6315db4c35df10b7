// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const { verdicts, timeline, film } = data;
const frames = film.frames;
const margins = new Set([data.margin, ...frames.map((frame) => frame.sm)]);  // m; a live parameter
const widest = Math.max(...margins);
const el = (id) => document.getElementById(id);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const number = (value, digits, unit) => value === null || value === undefined ? "-"
  : value.toFixed(digits).replace(/^-(0\.?0*)$/, "$1") + " " + unit;  // never -0

const seconds = (t) => t.toFixed(6).replace(/0{1,3}$/, "") + " s";  // to the microsecond, as seek() reads it

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

// Height and pattern tell the verdicts apart without colours.
const LOOKS = {
  FREE: [0.4, []], MARGIN: [0.6, [[0, 8, 8, 0]]], UNKNOWN: [0.8, [[3, 3, 5, 3]]], COLLISION: [1.0, [[0, 8, 8, 0], [0, 0, 8, 8]]],
};
const DASHES = { "purple": [5, 3] };

const fillings = new Map();  // cleared when the colours change

function filling(g, name) {
  if (!fillings.has(name)) fillings.set(name, pattern(g, name));
  return fillings.get(name);
}

function pattern(g, name) {
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

function ceiling(values, least) {
  const top = Math.max(least, ...values);
  const unit = 10 ** Math.floor(Math.log10(top));
  return [1, 2, 5, 10].map((k) => k * unit).find((k) => k >= top * 0.999);
}

function key(name) {  // a bar as in the timeline, or a piece of a curve
  const canvas = document.createElement("canvas"), width = 22, height = 14;
  canvas.className = "key"; canvas.width = width; canvas.height = height;
  const g = canvas.getContext("2d");
  if (LOOKS[name]) { bar(g, name, 0, 0, width, height); return canvas; }
  g.strokeStyle = colour(name); g.lineWidth = 2; g.setLineDash(DASHES[name] || []);
  g.beginPath(); g.moveTo(0, height / 2); g.lineTo(width, height / 2); g.stroke();
  return canvas;
}
