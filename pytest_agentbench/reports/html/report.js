"use strict";
// Everything an agent or a user wrote reaches the page through textContent, never as HTML.
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const make = (tag, text, kind) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (kind) element.className = kind;
  return element;
};
const at = (id) => document.getElementById(id);
const whole = (value) => value.toLocaleString("en");

// --- the table of samples: columns as arrays, a permutation of row numbers, one page of rows ---
const { rows, columns } = read("table-data");
const status = columns.find((column) => column.name === "status");
let details = null; // parsed when the first sample is opened
let order = Uint32Array.from({ length: rows }, (_, row) => row);
let shown = order;
let sorted = { column: null, down: false };
let page = 0;

const text = (column, row) => {
  const value = column.values[row];
  if (value === null) return "";
  if (column.words) return column.words[value];
  if (!column.number || Number.isInteger(value)) return String(value);
  return value.toFixed(Math.abs(value) < 10 ? 4 : 2); // as in the terminal, never in exponents
};

function sortBy(column) {
  const down = sorted.column === column && !sorted.down;
  sorted = { column, down };
  const sign = down ? -1 : 1;
  let keys = column.values;
  if (!column.number && !column.words) {
    // uid[9] before uid[10]; made once, as comparing with a collator takes seconds for 100,000 rows.
    column.keys ??= column.values.map((v) => v.toLowerCase().replace(/\d+/g, (d) => d.padStart(12, "0")));
    keys = column.keys;
  }
  order = Uint32Array.from({ length: rows }, (_, row) => row).sort((a, b) => {
    const x = keys[a], y = keys[b];
    if (x === y) return a - b;
    if (x === null) return 1; // absent values are last in both directions
    if (y === null) return -1;
    return x < y ? -sign : sign;
  });
  filter();
}

let haystack = null;
function filter() {
  const words = at("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = at("status").value;
  if (words.length && haystack === null) {
    const searched = columns.filter((column) => !column.number);
    haystack = Array.from({ length: rows }, (_, row) =>
      searched.map((column) => text(column, row)).join("\n").toLowerCase());
  }
  shown = order;
  if (words.length || wanted) {
    const code = wanted ? status.words.indexOf(wanted) : -1;
    shown = order.filter((row) => (code < 0 || status.values[row] === code)
      && words.every((word) => haystack[row].includes(word)));
  }
  page = 0;
  render();
}

function render() {
  const size = Number(at("size").value);
  const first = page * size;
  const last = Math.min(first + size, shown.length);
  at("range").textContent = shown.length ? `${whole(first + 1)}–${whole(last)} of ${whole(shown.length)}` : "no samples";
  at("back").disabled = page === 0;
  at("on").disabled = last >= shown.length;
  document.querySelectorAll("#rows thead th").forEach((head, number) => {
    const own = columns[number] === sorted.column;
    head.setAttribute("aria-sort", own ? (sorted.down ? "descending" : "ascending") : "none");
    head.firstChild.textContent = columns[number].name + (own ? (sorted.down ? " ▼" : " ▲") : "");
  });
  const body = make("tbody");
  for (let place = first; place < last; place++) {
    const row = shown[place];
    const line = make("tr");
    for (const column of columns) {
      const cell = make("td", undefined, column.number ? "number" : "");
      const value = text(column, row);
      if (column.name === "sample") {
        const button = make("button", value);
        button.type = "button";
        button.addEventListener("click", () => open(place));
        cell.append(button);
      } else {
        cell.textContent = value;
        if (column === status) cell.className = value === "ok" ? "pass" : "fail";
      }
      line.append(cell);
    }
    body.append(line);
  }
  document.querySelector("#rows tbody").replaceWith(body);
}

// --- one sample ---
let opened = 0;
function open(place) {
  opened = place;
  details ??= read("details-data");
  const row = shown[place];
  at("name").textContent = text(columns[0], row);
  at("before").disabled = place === 0;
  at("after").disabled = place === shown.length - 1;
  const facts = columns.slice(1).filter((c) => c.words || c.number).map((c) => `${c.name} ${text(c, row) || "-"}`);
  const parts = [make("p", facts.join(" · "))];
  for (const [label, value, left] of details[row] ?? []) {
    parts.push(make("h3", label), make("pre", value));
    if (left) parts.push(make("small", `… ${whole(left)} more characters are not in this file`));
  }
  if (!details[row]) parts.push(make("p", "The texts of this sample are not in this file; records.jsonl has them."));
  at("texts").replaceChildren(...parts);
  if (!at("sample").open) at("sample").showModal();
  at("sample").scrollTop = 0;
}

function start() {
  const head = document.querySelector("#rows thead tr");
  for (const column of columns) {
    const cell = make("th", undefined, column.number ? "number" : "");
    const button = make("button", column.name);
    button.type = "button";
    button.addEventListener("click", () => sortBy(column));
    cell.append(button);
    head.append(cell);
  }
  const counts = status.words.map(() => 0);
  for (const code of status.values) counts[code]++;
  at("status").append(new Option("every status", ""));
  status.words.forEach((word, code) => {
    if (counts[code]) at("status").append(new Option(`${word} (${whole(counts[code])})`, word));
  });
  let waiting = 0;
  at("search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 150);
  });
  at("status").addEventListener("change", filter);
  at("size").addEventListener("change", () => { page = 0; render(); });
  at("back").addEventListener("click", () => { page--; render(); });
  at("on").addEventListener("click", () => { page++; render(); });
  at("before").addEventListener("click", () => open(opened - 1));
  at("after").addEventListener("click", () => open(opened + 1));
  at("close").addEventListener("click", () => at("sample").close());
  at("sample").addEventListener("click", (event) => { if (event.target === at("sample")) at("sample").close(); });
  render();
}

// --- plots: Vega-Lite draws SVG, whose words and lines have the colour of the text around them ---
async function unpack(id) {
  const packed = Uint8Array.from(atob(at(id).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function rowsOf(columns) {
  const names = Object.keys(columns);
  const row = (_, number) => Object.fromEntries(names.map((name) => [name, columns[name][number]]));
  return Array.from({ length: names.length ? columns[names[0]].length : 0 }, row);
}
const tablesOf = (data) => Object.fromEntries(Object.entries(data).map(([name, columns]) => [name, rowsOf(columns)]));

// Selects for the labels; calls back with the data of what is chosen, at first and after every change.
function picker(place, item, chosen) {
  const choices = item.labels.map((label) => {
    const select = make("select");
    const named = make("label", `${label} `);
    named.append(select);
    place.append(named);
    return select;
  });
  const fill = (level) => { // the options of a level hang on what is chosen above it
    let frames = item.frames;
    choices.slice(0, level).forEach((select) => { frames = frames[select.value]; });
    choices.slice(level).forEach((select) => {
      const before = select.value;
      const names = Object.keys(frames);
      select.replaceChildren(...names.map((name) => new Option(name, name)));
      select.value = names.includes(before) ? before : names[0];
      frames = frames[select.value];
    });
    return chosen(frames);
  };
  choices.forEach((select, level) => select.addEventListener("change", () => fill(level + 1)));
  return fill(0);
}

async function draw() {
  if (!at("chart-script")) return;
  const { config, figures } = read("figures-data");
  document.head.append(make("script", await unpack("chart-script"))); // the policy knows its digest
  const options = {
    mode: "vega-lite", renderer: "svg", actions: false, tooltip: { disableDefaultStyle: true },
    ast: true, // expressions are interpreted: the policy forbids to make code of them
  };
  for (const [number, item] of figures.entries()) {
    const fixed = tablesOf(item.data);
    const show = (frame) => {
      const datasets = { ...fixed, ...tablesOf(frame) };
      return Promise.all(item.charts.map((chart, place) =>
        vegaEmbed(at(`plot-${number}-${place}`), { ...chart, config, datasets }, options)));
    };
    try { // a chart that Vega-Lite refuses costs no other figure
      if (item.labels.length) await picker(at(`picker-${number}`), item, show);
      else await show({});
    } catch (error) {
      at(`plot-${number}-0`).replaceChildren(make("p", `This plot cannot be drawn: ${error.message}`));
    }
  }
  document.body.dataset.drawn = figures.length; // for whoever waits for the plots
}

start();
draw();
