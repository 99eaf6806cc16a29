(() => {  // draws a rebalance like moves_drawing.py
  const [ID, TITLE, SAID, BALANCING, COLUMNS, FOLDED, BEFORE, RECORDED, MOVED, BEST,
    BEST_MOVED] = Array(11).keys();
  const [NOBODY, OTHERS] = [-1, -2];
  const [COLUMN, BOX, HIGH, TOP, BETWEEN, TOLD] = [62, 48, 26, 26, 96, 8];
  const source = document.getElementById("rebalance-data");
  const place = document.getElementById("opened");
  if (!source || !place) return;
  const {fates, groups} = JSON.parse(source.textContent);
  if (!groups.length) return;
  const kept = fates.indexOf("kept");

  const svg = (tag, attributes, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const counted = (value, one) => `${number(value)} ${one}${value === 1 ? "" : "s"}`;
  const middle = (at) => at * COLUMN + COLUMN / 2;

  const drawing = (names, before, loads, flows, label) => {
    const told = ([giver, taker, count, fate]) => fate === kept
      ? `${counted(count, "partition")} of ${names[giver]} stay`
      : `${counted(count, "partition")} from ${names[giver]} to ${names[taker]}`;
    const moved = flows.filter(([, , , fate]) => fate !== kept);
    const summary = moved.slice(0, TOLD).map(told);
    if (moved.length > TOLD)
      summary.push(`and ${counted(moved.length - TOLD, "more pair")} of members`);
    const low = TOP + HIGH + BETWEEN, bend = BETWEEN / 2;
    const [width, height] = [COLUMN * names.length, low + HIGH + 2];
    const line = (flow) => {
      const [from, to, high] = [middle(flow[0]), middle(flow[1]), TOP + HIGH];
      const wide = Math.min(8, 2 + Math.floor(Math.log2(flow[2])));
      return svg("path", {class: fates[flow[3]], "stroke-width": wide,
        d: `M${from} ${high}C${from} ${high + bend} ${to} ${low - bend} ${to} ${low}`},
      svg("title", {}, told(flow)));
    };
    const box = (y) => (load, at) => [
      svg("rect", {x: middle(at) - BOX / 2, y, width: BOX, height: HIGH, rx: 4}),
      svg("text", {x: middle(at), y: y + 18, "text-anchor": "middle"}, number(load))];
    const picture = svg("svg", {class: "moves", "aria-hidden": "true", width, height,
      viewBox: `0 0 ${width} ${height}`},
    ...[...flows].sort((a, b) => (a[3] !== kept) - (b[3] !== kept)).map(line),
    ...names.map((name, at) => svg("text", {x: middle(at), y: 17, "text-anchor": "middle"},
      svg("title", {}, name), short(name, 7))),
    ...before.flatMap(box(TOP)), ...loads.flatMap(box(low)));
    const image = make("div", {}, picture);
    image.setAttribute("role", "img");
    image.setAttribute("aria-label", summary.join("; ") || "nothing moves");
    const scroll = make("div", {className: "scroll", tabIndex: 0}, image);
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", label);
    return scroll;
  };
  const figure = (caption, drawn) =>
    make("figure", {}, make("figcaption", {textContent: caption}), drawn);

  const options = (texts) => texts.map((text, at) =>
    make("option", {value: String(at), textContent: text}));
  const group = make("select", {}, ...options(groups.map(({name}) => short(name, 36))));
  const rebalance = make("select", {});
  const step = (text, by) => {
    const button = make("button", {type: "button", textContent: text});
    button.addEventListener("click", () => {
      rebalance.selectedIndex += by;
      show();
    });
    return button;
  };
  const [older, newer] = [step("Older", 1), step("Newer", -1)];
  const shown = make("div", {});

  const draw = () => {
    const {name, members, rebalances} = groups[group.selectedIndex];
    const one = rebalances[rebalance.selectedIndex];
    const names = one[COLUMNS].map((at) => at === NOBODY ? "no owner"
      : at === OTHERS ? `${number(one[FOLDED])} more` : members[at]);
    const about = (words) => `Moves of ${name}, ${one[TITLE]}, ${words}`;
    newer.disabled = rebalance.selectedIndex === 0;
    older.disabled = rebalance.selectedIndex === rebalances.length - 1;
    const link = make("a", {href: "#" + one[ID], textContent: "Link to this rebalance"});
    shown.replaceChildren(
      make("p", {textContent: one[SAID]}),
      ...one[BALANCING].length ? [
        make("p", {textContent: "These transfers balance the recorded assignment:"}),
        make("ul", {className: "chain"}, ...one[BALANCING].map((textContent) =>
          make("li", {textContent})))] : [],
      make("div", {className: "pair"},
        figure("Moves as recorded", drawing(names, one[BEFORE], one[RECORDED], one[MOVED],
          about("as opened: recorded"))),
        figure("Moves as they could have been: the optimum", drawing(names, one[BEFORE],
          one[BEST], one[BEST_MOVED], about("as opened: the optimum")))),
      make("p", {className: "small"}, link));
    return one[ID];
  };
  const show = () => history.replaceState(null, "", "#" + draw());
  const list = (at = 0) => {
    const {rebalances} = groups[group.selectedIndex];
    rebalance.replaceChildren(...options(rebalances.map((one) => one[TITLE])));
    rebalance.selectedIndex = at;
  };
  group.addEventListener("change", () => { list(); show(); });
  rebalance.addEventListener("change", show);
  place.append(make("div", {className: "controls"}, make("label", {}, "Group ", group),
    make("label", {}, "Rebalance ", rebalance), older, newer), shown);
  list();
  draw();

  const follow = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    if (!id.startsWith("rebalance-") || document.getElementById(id)) return;
    groups.forEach(({rebalances}, at) => {
      const found = rebalances.findIndex((one) => one[ID] === id);
      if (found < 0) return;
      group.selectedIndex = at;
      list(found);
      draw();
      document.getElementById("open").scrollIntoView();
      rebalance.focus({preventScroll: true});
    });
  };
  addEventListener("hashchange", follow);
  follow();
})();
