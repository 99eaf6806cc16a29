(() => {
  const [CLUSTER, NAME, ASSIGNOR, JUDGED, OPTIMUM, NEEDLESS, MOVES, UNBALANCED, INVALID,
    LAG, ENDLESS, ADVICE, PATTERN, HARM, ID] = Array(15).keys();
  const [LOST, WAITING, IMBALANCE] = Array(3).keys();
  const [STEP, NAMES] = [100, 300];
  const source = document.getElementById("group-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const rows = data.rows;
  const table = document.getElementById("group-table");
  const [body, sums] = table.tBodies;
  const first = body.rows.length;
  const many = data.clusters.length > 1;
  const texts = rows.map((row) => [many ? data.clusters[row[CLUSTER]] : "", row[NAME],
    row[ASSIGNOR] < 0 ? "" : data.assignors[row[ASSIGNOR]]].join(" ").toLowerCase());
  const often = new Map();  // rows per group: one per assignor that it used
  const groupOf = (row) => `${row[CLUSTER]} ${row[NAME]}`;
  for (const row of rows) often.set(groupOf(row), (often.get(groupOf(row)) ?? 0) + 1);
  const bytes = new TextEncoder();
  const encoded = (text) => [...text].map((one) => /[A-Za-z0-9-]/.test(one) ? one
    : [...bytes.encode(one)].map((byte) =>
      "_" + byte.toString(16).toUpperCase().padStart(2, "0")).join("")).join("");
  const idOf = (row) => row.length > ID ? row[ID] : "group-" + encoded(row[NAME]);
  const linkOf = new Map();  // id of the first row of each group
  for (const row of rows)
    if (!linkOf.has(groupOf(row))) linkOf.set(groupOf(row), idOf(row));
  const state = {text: "", assignor: "", kind: "", column: -1, up: true, shown: first,
    pinned: -1};

  const percent = (part, whole) => {
    if (!whole) return "–";
    const exact = 100 * part / whole;
    const floor = Math.floor(exact);
    const half = exact - floor === 0.5 ? floor + floor % 2 : Math.round(exact);
    if (part && !half) return "<1 %";
    if (part < whole && half === 100) return ">99 %";
    return `${half} %`;
  };
  const named = (text, limit) => {
    const element = make("bdi", {textContent: short(text, limit)});
    if (text.length > limit) element.title = text;
    return element;
  };
  const cell = (name, ...children) => make("td", {className: name}, ...children);
  const muted = (text) => make("span", {className: "muted", textContent: text});

  const alike = data.patterns.map(() => []);  // places of the rows of each pattern
  rows.forEach((row, place) => { if (row[PATTERN] >= 0) alike[row[PATTERN]].push(place); });
  for (const row of rows) row[HARM] ||= [0, 0, 0, 0, 0];
  const right = (row) => !row[NEEDLESS] && !row[UNBALANCED] && !row[INVALID]
    && row[HARM].every((value) => value <= 0);
  const lasting = (milliseconds) => {  // as seconds_text
    if (milliseconds < 0) return "–";
    const tenths = Math.floor((milliseconds + 50) / 100);
    if (!milliseconds || tenths >= 100) return number(Math.floor((milliseconds + 500) / 1000));
    return tenths ? `${Math.floor(tenths / 10)}.${tenths % 10}` : "<0.1";
  };
  const lost = ([milliseconds, , , unknown, open]) => [
    unknown && milliseconds <= 0 ? "unknown" : lasting(milliseconds),
    ...unknown && milliseconds > 0 ? [" ", muted(`and ${number(unknown)} unknown`)] : [],
    ...open ? [" ", muted("until the end of the history")] : []];
  const summed = (pattern) => {  // as Fold.counts and Fold.lag
    const found = alike[pattern].map((place) => rows[place]);
    const row = [...found[0]];
    if (!right(row)) return row;
    for (const column of [JUDGED, OPTIMUM])
      row[column] = found.reduce((sum, other) => sum + other[column], 0);
    if (found.some((other) => other[LAG] !== row[LAG])) row[LAG] = -1;
    return row;
  };
  const fill = (details) => {  // the names as links, when the row is opened
    const places = alike[Number(details.dataset.pattern)];
    const links = places.slice(0, NAMES).flatMap((place, at) => [at ? ", " : "",
      make("a", {href: "#" + idOf(rows[place])}, named(rows[place][NAME], 36))]);
    const left = places.length - NAMES;
    details.replaceChildren(details.firstElementChild, " ", make("p", {},
      right(rows[places[0]]) ? "The counts are those of all together: "
        : "Each has these numbers: ", ...links,
      left > 0 ? ` and ${number(left)} more: search for their names` : ""));
  };
  const opened = (details) => {
    details.addEventListener("toggle", () => { if (details.open) fill(details); });
    return details;
  };

  const openable = document.getElementById("rebalance-data");
  const newest = new Map(openable ? JSON.parse(openable.textContent).groups.map((one) =>
    [one.row, one.rebalances[0][0]]) : []);
  const opening = (id) => {
    if (!newest.has(id)) return [];
    const link = make("a", {className: "opening", textContent: "open",
      href: "#" + newest.get(id), title: "open the newest rebalance of this group"});
    return [" ", link];
  };
  const casesOf = new Map();  // links to drawn rebalances, by the id of a group's row
  for (const row of body.rows)
    casesOf.set(row.id, [...row.querySelectorAll(".drawn a")]);
  for (const row of body.rows) row.querySelector(".group")?.after(...opening(row.id));

  body.querySelectorAll("details.fold").forEach(opened);

  const advice = (line, blocks) => {
    const parts = {className: "advice", textContent: line};
    if (!blocks.length) return make("span", parts);
    const told = blocks.flatMap(([title, steps, note]) => [make("p", {textContent: title}),
      ...steps.flatMap(([says, setting]) => [make("p", {textContent: says + ":"}),
        make("pre", {}, make("code", {textContent: setting}))]),
      ...(note ? [make("p", {className: "muted", textContent: note})] : [])]);
    return make("details", {className: "settings"}, make("summary", parts),
      ...told.flatMap((part) => [" ", part]));
  };
  const drawn = ([place, pattern]) => {
    const row = pattern < 0 ? rows[place] : summed(pattern);
    const id = idOf(row);
    const parts = [named(pattern < 0 ? row[NAME] : data.patterns[pattern], 36)];
    if (many) parts.unshift(named(data.clusters[row[CLUSTER]], 20), " / ");
    const label = pattern >= 0 ? opened(make("details", {className: "fold"},
      make("summary", {}, ...parts, `: ${number(alike[pattern].length)} groups`)))
      : id ? make("a", {className: "group", href: "#" + id}, ...parts)
      : make("span", {}, ...parts);
    const told = [advice(data.advice[row[ADVICE]],
      data.settings[data.settings_of[row[ADVICE]]])];
    const links = (id && casesOf.get(id) || []).flatMap((one, place) =>
      [place ? ", " : "drawn: ", one.cloneNode(true)]);
    if (links.length) told.push(" ", make("span", {className: "drawn"}, ...links));
    if (pattern >= 0) {
      label.dataset.pattern = pattern;
      fill(label);
    }
    const element = make("tr", {},
      make("th", {scope: "row"}, label, ...(pattern < 0 ? opening(id) : []), " ", ...told),
      cell("whole minor", row[ASSIGNOR] < 0 ? muted("unknown")
        : named(data.assignors[row[ASSIGNOR]], 28)),
      cell("num", ...lost(row[HARM])),
      cell("num minor less", lasting(row[HARM][WAITING])),
      cell("num minor", number(row[MOVES]),
        ...(row[NEEDLESS] ? [" ", muted(`· in\u00a0${number(row[NEEDLESS])}`)] : [])),
      cell("num minor less", lasting(row[HARM][IMBALANCE])),
      cell("num", number(row[INVALID])),
      cell("num minor", number(row[UNBALANCED])),
      cell("num wider", number(row[OPTIMUM]),
        muted(` · ${percent(row[OPTIMUM], row[JUDGED])}`)),
      cell("num minor less", row[LAG] < 0 ? "–" : `${number(row[LAG])} %`));
    if (id) element.id = id;
    if (often.get(groupOf(row)) > 1)  // narrow screens have no column for it
      element.cells[0].dataset.assignor = data.assignors[row[ASSIGNOR]] ?? "unknown";
    return element;
  };

  const KEYS = {1: (row) => row[ASSIGNOR] < 0 ? "" : data.assignors[row[ASSIGNOR]],
    0: (row) => row[NAME], 2: (row) => row[HARM][LOST],
    3: (row) => row[HARM][WAITING], 4: (row) => row[MOVES],
    5: (row) => row[HARM][IMBALANCE], 6: (row) => row[INVALID],
    7: (row) => row[UNBALANCED],
    8: (row) => row[JUDGED] ? row[OPTIMUM] / row[JUDGED] : -1, 9: (row) => row[LAG]};
  const matches = (row, place) =>
    (!state.text || texts[place].includes(state.text))
    && (state.assignor === "" || row[ASSIGNOR] === Number(state.assignor))
    && (state.kind === "" || row[Number(state.kind)] > 0);
  const orders = new Map();
  const order = (column, up) => {  // of equal keys, the one with more harm is first
    const name = `${column} ${up}`;
    if (!orders.has(name)) {
      const keys = rows.map(KEYS[column] ?? (() => 0));
      const sign = up ? 1 : -1;
      orders.set(name, rows.map((_, place) => place).sort((a, b) =>
        keys[a] < keys[b] ? -sign : keys[a] > keys[b] ? sign : a - b));
    }
    return orders.get(name);
  };
  const chosen = () => {
    const found = order(state.column, state.up)
      .filter((place) => matches(rows[place], place));
    const at = found.indexOf(state.pinned);
    if (at >= 0) found.unshift(...found.splice(at, 1));
    const seen = new Set();
    return found.flatMap((place) => {  // a search finds each group by its own name
      const pattern = state.text || place === state.pinned ? -1 : rows[place][PATTERN];
      if (seen.has(pattern)) return [];
      if (pattern >= 0) seen.add(pattern);
      return [[place, pattern]];
    });
  };

  const status = make("output", {className: "small muted"});
  const more = make("button", {type: "button", textContent: "Show more"});
  const lines = new Map();  // place of the timeline of each group
  rows.forEach((row) => {
    if (!lines.has(groupOf(row))) lines.set(groupOf(row), lines.size);
  });
  const tellTimelines = (shown) => {
    const told = new Set();
    const detail = shown.slice(0, first).map(([place]) => rows[place])
      .filter((row) => !told.has(groupOf(row)) && told.add(groupOf(row)))
      .map((row) => ({place: lines.get(groupOf(row)), name: row[NAME],
        href: linkOf.get(groupOf(row)),
        label: [...many ? [named(data.clusters[row[CLUSTER]], 20), " / "] : [],
          named(row[NAME], 36)]}));
    document.dispatchEvent(new CustomEvent("groups-drawn", {detail}));
  };
  const draw = () => {
    const found = chosen();
    const shown = found.slice(0, state.shown);
    tellTimelines(shown);
    body.replaceChildren(...shown.map(drawn));
    const whole = !state.text && !state.assignor && !state.kind;
    if (sums) sums.hidden = !whole || shown.length > first;
    status.textContent = `${number(shown.length)} of ${number(found.length)} rows`;
    more.hidden = shown.length === found.length;
  };

  const search = make("input", {type: "search", placeholder: "group or assignor"});
  const options = (pairs) => pairs.map(([value, text]) =>
    make("option", {value, textContent: text}));
  const assignor = make("select", {}, ...options([["", "all assignors"],
    ...data.assignors.map((name, place) => [String(place), short(name, 28)])]));
  const kind = make("select", {}, ...options([["", "all groups"],
    [String(NEEDLESS), "with needless moves"], [String(UNBALANCED), "with unbalanced"],
    [String(INVALID), "with invalid"], [String(ENDLESS), "rebalancing endlessly"]]));
  const change = (values) => {
    Object.assign(state, {shown: first, pinned: -1}, values);
    draw();
  };
  search.addEventListener("input", () => change({text: search.value.trim().toLowerCase()}));
  assignor.addEventListener("change", () => change({assignor: assignor.value}));
  kind.addEventListener("change", () => change({kind: kind.value}));
  more.addEventListener("click", () => { state.shown += STEP; draw(); });
  table.before(make("div", {className: "controls"},
    make("label", {}, "Search ", search), make("label", {}, "Assignor ", assignor),
    make("label", {}, "Show ", kind), status));
  table.after(more);
  const all = chosen().length;
  more.hidden = all <= first;
  tellTimelines(chosen().slice(0, first));
  status.textContent = `${number(first)} of ${number(all)} rows`;

  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = make("button", {type: "button", className: "sort"}, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = state.column === column ? !state.up : column < 2;
      [...table.tHead.rows[0].cells].forEach((one) => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      change({column, up});
    });
  });

  const follow = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const linked = document.getElementById(id);
    if (linked?.matches("details.case")) {
      linked.open = true;
      linked.scrollIntoView();
      linked.querySelector("summary").focus({preventScroll: true});
    }
    if (!id.startsWith("group-")) return;
    if (!document.getElementById(id)) {
      const place = rows.findIndex((row) => idOf(row) === id);
      if (place < 0) return;
      search.value = assignor.value = kind.value = "";
      change({text: "", assignor: "", kind: "", pinned: place});
    }
    document.querySelectorAll("tr.target").forEach((row) => row.classList.remove("target"));
    const row = document.getElementById(id);
    row.classList.add("target");
    row.scrollIntoView({block: "center"});
  };
  addEventListener("hashchange", follow);
  follow();
})();
