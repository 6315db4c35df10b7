// SPDX-FileCopyrightText: gjk_collision contributors
// SPDX-License-Identifier: Apache-2.0
// ---- the golden answer and this one at the cursor, side by side

function drawBoth() {
  if (!golden || !count) return;
  const cell = (tag, content) => {
    const made = document.createElement(tag);
    made.append(...[content].flat());
    return made;
  };
  const line = (name, ...values) => {
    const row = document.createElement("tr");
    row.append(cell("th", name), ...values.map((value) => cell("td", value)));
    if (String(values[0].textContent ?? values[0]) !== String(values[1].textContent ?? values[1])) row.className = "differs";
    return row;
  };
  const shape = (code) => code < 0 ? "no answer" : Object.assign(cell("span", [key(verdicts[code]), verdicts[code]]));
  const own = golden.verdict[stamp] < 0 ? "-" : statusName[golden.status[stamp]];
  const far = (values) => number(known(values[stamp]), 6, "m");
  el("both").replaceChildren(
    line("verdict", shape(golden.verdict[stamp]), shape(verdict[stamp])),
    line("status", own, statusName[status[stamp]]),
    line("distance", far(golden.distance), far(distance)),
  );
  el("difference").textContent = changeAt(stamp) || "none";
}
