(() => {  // draws timelines like timeline_drawing.py
  const [TEXT, LENGTH, LASTS, ENDED, COUNTS, LEAST, MOST, UNREAD, LAG] = Array(9).keys();
  const [PLACES, WIDTH, TOP, LOW, TICK] = [1000, 1000, 2, 24, 10];
  const [LETTERS, CLASSES] = ["ABCDE",
    ["optimum", "needless", "unbalanced", "invalid", "open"]];
  const TOLD = {invalid: "invalid", unbalanced: "unbalanced",
    needless: "with needless moves", optimum: "at the optimum"};
  const source = document.getElementById("timeline-data");
  const list = document.getElementById("timeline-list");
  if (!source || !list) return;
  const data = JSON.parse(source.textContent);
  const whole = [data.start, data.end];
  const SVG = "http://www.w3.org/2000/svg";

  const TICK_TEXT = new RegExp("([A-E])([0-9a-z]*)" + [".", "!", "_", "~"]
    .map((sign) => `(?:\\${sign}([0-9a-z]+))?`).join(""), "g");
  const ticksOf = (text) => {
    let [at, members] = [0, 0];
    const value = (digits, absent) => digits === undefined ? absent : parseInt(digits, 36);
    return [...text.matchAll(TICK_TEXT)].map(([, letter, step, now, most, left, lag]) => {
      at += step ? parseInt(step, 36) : 0;
      members = value(now, members);
      const peak = value(most, 0);
      return {at, members, peak, outcome: LETTERS.indexOf(letter),
        unread: value(left, peak), lag: value(lag, -1)};
    });
  };
  const counted = (value, word) => `${number(value)} ${word}${value === 1 ? "" : "s"}`;
  const time = (at) => new Date(at).toISOString().slice(0, 19).replace("T", " ");
  const words = (start, rest) => {  // as words_of in timeline_drawing.py
    const [least, most] = [rest[LEAST], rest[MOST]];
    const all = rest[COUNTS].reduce((sum, count) => sum + count, 0);
    return [counted(all, "generation"),
      `${least === most ? number(most) : `${number(least)} to ${number(most)}`} member${
        most === 1 ? "" : "s"}`,
      ...rest[UNREAD] > 0 ? [`up to ${counted(rest[UNREAD], "partition")} without an owner`] : [],
      ...rest[LAG] >= 0 ? [`peak lag up to ${number(rest[LAG])}`] : [],
      ...own ? [`${time(start)} to ${time(start + rest[LENGTH])} UTC`] : []].join("; ");
  };
  const outcomes = (rest) => [3, 2, 1, 0].filter((at) => rest[COUNTS][at])
    .map((at) => `${number(rest[COUNTS][at])} ${TOLD[CLASSES[at]]}`).join(", ")
    || "not classified";
  const drawing = (start, rest, ticks, [from, to]) => {
    const length = Math.max(1, to - from) * PLACES;
    const x = (moment) => Math.floor((moment - from * PLACES) * WIDTH / length);
    const y = (value, most) => LOW - Math.floor(value * (LOW - TOP) / most);
    const across = ticks.map(({at}) => x(start * PLACES + at * rest[LENGTH]));
    const finish = rest[LASTS] < 0 ? WIDTH
      : Math.min(WIDTH, x((start + rest[LENGTH] + rest[LASTS]) * PLACES));
    const wide = (at) => Math.max(1, (across[at + 1] ?? finish) - across[at]);
    const area = (name, most) => ticks.map((tick, at) => tick[name] <= 0 ? ""
      : `M${across[at]} ${LOW}V${y(tick[name], most)}h${wide(at)}V${LOW}z`).join("");
    const spikes = ticks.map(({peak, unread}, at) => peak <= 0 || peak <= unread ? ""
      : `M${across[at]} ${LOW}V${y(peak, rest[UNREAD])}h1V${LOW}z`).join("");
    const paths = [["lag", area("lag", rest[LAG])],
      ["unread", area("unread", rest[UNREAD]) + spikes]].filter(([, path]) => path);
    const most = Math.max(1, rest[MOST]);
    let [before, steps] = [LOW, `M${across[0]} ${LOW}`];
    ticks.forEach(({members}, at) => {
      const height = y(members, most);
      if (height !== before) steps += `H${across[at]}V${height}`;
      before = height;
    });
    paths.push(["members", `${steps}H${finish}${rest[ENDED] ? `V${LOW}` : ""}`]);
    CLASSES.forEach((name, outcome) => {
      const places = new Set(across.filter((_, at) => ticks[at].outcome === outcome));
      const path = [...places].map((left) => `M${left} ${LOW + 3}v${TICK}`).join("");
      if (path) paths.push([name, path]);
    });
    const svg = document.createElementNS(SVG, "svg");
    const attributes = {class: "timeline", "aria-hidden": "true", focusable: "false",
      viewBox: `0 0 ${WIDTH} ${LOW + 3 + TICK + 1}`, preserveAspectRatio: "none"};
    for (const [name, value] of Object.entries(attributes)) svg.setAttribute(name, value);
    for (const [name, d] of paths) {
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("class", name);
      path.setAttribute("d", d);
      svg.append(path);
    }
    return svg;
  };

  let shown = [];
  let own = "own" in list.dataset;
  const tell = (image, output, told, start, rest, ticks, [from, to]) => {
    image.addEventListener("pointermove", (event) => {  // name the nearest tick
      const box = image.getBoundingClientRect();
      const moment = from + (to - from) * (event.clientX - box.left) / box.width;
      const timeOf = ({at}) => start + at * rest[LENGTH] / PLACES;
      const away = (tick) => Math.abs(timeOf(tick) - moment);
      const near = ticks.reduce((best, tick) => away(tick) < away(best) ? tick : best);
      output.textContent = [`${time(timeOf(near))} UTC`,
        TOLD[CLASSES[near.outcome]] ?? "a round", counted(near.members, "member"),
        ...near.peak > 0 ? [`${number(near.peak)} without an owner`] : [],
        ...near.lag >= 0 ? [`peak lag ${number(near.lag)}`] : []].join(" · ");
    });
    image.addEventListener("pointerleave", () => { output.textContent = told; });
  };
  const figure = ({place, label, name, href}) => {
    const [after, kind] = data.lines[place];
    const [start, rest] = [data.start + after, data.rests[kind]];
    const axis = own ? [start, start + Math.max(1, rest[LENGTH])] : whole;
    const ticks = ticksOf(rest[TEXT]);
    const told = words(start, rest);
    const image = make("div", {}, drawing(start, rest, ticks, axis));
    image.setAttribute("role", "img");
    image.setAttribute("aria-label", `Timeline of ${name}: ${told}. ${outcomes(rest)}`);
    const output = make("span", {className: "muted small", textContent: told});
    tell(image, output, told, start, rest, ticks, axis);
    const link = make("a", {className: "group", href: "#" + href}, ...label);
    return make("figure", {className: "timeline"},
      make("figcaption", {}, link, " ", output), image);
  };
  const draw = () => list.replaceChildren(...shown.map(figure));
  const axis = make("input", {type: "checkbox", checked: own});
  axis.addEventListener("change", () => { own = axis.checked; draw(); });
  list.before(make("div", {className: "controls"},
    make("label", {}, axis, " each group on its own time axis")));
  document.addEventListener("groups-drawn", ({detail}) => {
    shown = detail.filter(({place}) => data.lines[place]);
    draw();
  });
})();
