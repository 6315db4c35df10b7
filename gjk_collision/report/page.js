// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
let stamp = 0, cursor = 0, at = 0;  // cursor: the frame of the time `at`, which is shown [s]
const eventTexts = document.querySelectorAll(".events li");

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
  data.events.forEach(([from, to], i) => {
    const isNow = at >= from - 5e-7 && at <= to + 5e-7, item = eventTexts[i];
    if (isNow) add("event", item.textContent);
    if (isNow && !item.className) item.parentNode.scrollTop = item.offsetTop;  // the list follows the cursor
    item.className = isNow ? "now" : "";
  });
  add("distance", number(frame.d, 4, "m"));
  add("lower bound", number(frame.lb, 4, "m"));
  add("nearest", frame.id === -1 ? "-" : "obstacle " + frame.id + " of " + frame.src);
  if (frame.ego) {
    const [x, y, yaw] = frame.ego, place = [x + film.origin[0], y + film.origin[1]].map((value) => value.toFixed(3));
    add("vehicle", "x " + place[0] + " m, y " + place[1] + " m, yaw " + yaw.toFixed(4) + " rad" + (data.frame ? " in " + data.frame : ""));
  }
  el("which").textContent = frame.n > 1 ? "The scene and these values are those of stamp " + frame.i + " at " +
    seconds(frame.t) + ", the worst of stamps " + frame.first + " to " + (frame.first + frame.n - 1) + "." : "";
  if (!count) return;
  const slider = el("timeline");
  slider.setAttribute("aria-valuemax", count - 1);
  slider.setAttribute("aria-valuenow", stamp);
  slider.setAttribute("aria-valuetext", seconds(time[stamp]) + ", " + answer(stamp, { verdict, status, distance }) +
    (changeAt(stamp) ? ", " + changeAt(stamp) : ""));
}

// ---- legend

function drawLegend() {
  const names = { ink: "distance", ...(golden && { "purple": "distance, " + data.names[0] }), "blue": "age" };
  el("legend").replaceChildren(...[...verdicts, ...Object.keys(names)].map((name) => {
    const entry = document.createElement("span");
    entry.append(key(name), names[name] || name);
    return entry;
  }));
}

// ---- moving about

function draw() { drawTimeline(); drawScene(); drawFacts(); }

// Moves the cursor to a stamp, and shows the frame of the last stamp at or before t.
function go(index, t) {
  stamp = Math.max(0, Math.min(count - 1, index));
  if (count) document.documentElement.dataset.time = +time[stamp].toFixed(6);
  at = t === undefined && count ? time[stamp] : t || 0;
  let low = 0, high = frames.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (frames[middle].begin <= at + 5e-7) low = middle; else high = middle - 1;
  }
  cursor = low;
  drawMoved(); drawScene(); drawFacts();
}

// Shows the last stamp at or before t, as trace --at does: the answer that holds at t.
function seek(t) { go(indexAt(t), t); }

function toEvent(way) {  // goes to the begin of the next event, and the address follows
  const ahead = data.events.map(([from]) => from).filter((from) => way * (from - at) > 5e-7);
  if (!ahead.length) return;
  const next = way > 0 ? Math.min(...ahead) : Math.max(...ahead);
  location.hash = "#t=" + next.toFixed(6);
  seek(next);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  if (event.target.classList?.contains("wide") && /^(Arrow|Home|End| )/.test(event.key)) return;  // they scroll the table
  const far = event.shiftKey ? 10 : 1;
  const inTime = event.target === el("timeline"), half = (shown.to - shown.from) / 2;
  const keys = {
    ArrowLeft: () => go(stamp - far), ArrowRight: () => go(stamp + far),
    Home: () => go(0), End: () => go(count - 1),
    PageUp: inTime && (() => { panTime(-half); seek(time[stamp] - half); }),
    PageDown: inTime && (() => { panTime(half); seek(time[stamp] + half); }),
    n: () => toEvent(1), p: () => toEvent(-1),
    "+": () => inTime ? zoomTime(1.5) : zoom(1.25), "=": () => inTime ? zoomTime(1.5) : zoom(1.25),
    "-": () => inTime ? zoomTime(1 / 1.5) : zoom(0.8),
    0: () => { if (inTime) show(begin, end); else { fit(); drawScene(); } },
  };
  const act = keys[event.key];
  if (act) { event.preventDefault(); act(); }
});

for (const [id, act] of Object.entries({
  back: () => go(stamp - 1), forward: () => go(stamp + 1),
  "time-in": () => zoomTime(1.5), "time-out": () => zoomTime(1 / 1.5), "time-whole": () => show(begin, end),
  ...(eventTexts.length && { next: () => toEvent(1), previous: () => toEvent(-1) }),
  in: () => zoom(1.25), out: () => zoom(0.8), fit: () => { fit(); drawScene(); },
})) el(id).addEventListener("click", act);

window.addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { fillings.clear(); draw(); drawLegend(); drawSceneLegend(); });
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
  document.querySelector(".row").scrollIntoView({ block: "nearest" });  // the timeline and the scene
  el("timeline").focus({ preventScroll: true });
});
if (!asked()) { if (data.opens === null) go(0); else seek(data.opens); }
fit();
drawScene();
drawLegend();
drawSceneLegend();
document.documentElement.dataset.ready = "yes";
