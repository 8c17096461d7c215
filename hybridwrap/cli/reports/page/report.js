"use strict";
(() => {
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const one = (id) => document.getElementById(id);
  const rows = all(".modules tbody tr");
  const bars = all(".bar");
  const panels = new Map(all(".panel").map((panel) => [panel.id, panel]));
  const rowOf = new Map(rows.map((row) => [row.dataset.for, row]));
  const nodes = all(".drawing a");
  const edges = all(".drawing .edge");
  const nodeId = (node) => node.getAttribute("href").slice(1);
  const chips = all(".chip");
  const search = one("search");
  const MANY = 40;
  let chosen = null;

  document.documentElement.classList.add("js");
  nodes.forEach((node) => node.setAttribute("tabindex", "-1")); // the table has the same, in order
  rows.forEach((row) => { row.querySelector("a").tabIndex = -1; });

  // What is shown

  const visible = () => rows.filter((row) => !row.hidden);

  function filter() {
    const wanted = new Set(chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.result));
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = new Set();
    for (const row of rows) {
      const fit = wanted.has(row.dataset.result) && words.every((word) => row.dataset.search.includes(word));
      if (row.hidden === fit) row.hidden = !fit;
      if (fit) fits.add(row.dataset.for);
    }
    for (const bar of bars) bar.hidden = !fits.has(bar.dataset.for);
    for (const node of nodes) node.classList.toggle("faded", !fits.has(nodeId(node)));
    const changed = one("graph-changed");
    if (changed) {
      changed.hidden = wanted.has("unchanged");
      one("graph-all").hidden = !changed.hidden;
    }
    if (chosen !== null) mark(chosen, true);
    one("nothing").hidden = fits.size > 0 || rows.length === 0;
    one("shown").textContent = fits.size === rows.length ? "" : `${fits.size} of ${rows.length} shown`;
    stop();
  }

  function showAll() {
    search.value = "";
    chips.forEach((chip) => chip.setAttribute("aria-pressed", "true"));
    filter();
  }

  // One tab stop for the whole table: the chosen row, or the first one

  function stop() {
    const shown = visible();
    const current = rowOf.get(chosen);
    const at = current && !current.hidden ? current : shown[0];
    rows.forEach((row) => { row.querySelector("a").tabIndex = row === at ? 0 : -1; });
  }

  function choose(id) {
    if (!panels.has(id)) return false;
    if (chosen !== null) mark(chosen, false);
    chosen = id;
    mark(id, true);
    one("panels").scrollTop = 0;
    stop();
    return true;
  }

  function mark(id, on) {
    panels.get(id).classList.toggle("chosen", on);
    rowOf.get(id).classList.toggle("chosen", on);
    for (const each of [...bars.filter((bar) => bar.dataset.for === id), ...nodes.filter((node) => nodeId(node) === id)]) {
      each.classList.toggle("chosen", on);
      if (on) bring(each);
    }
    for (const edge of edges) if (edge.dataset.ends.split(" ").includes(`#${id}`)) edge.classList.toggle("near", on);
  }

  function bring(element) { // into the middle of its box, and leave the page where it is
    const box = element.closest(".scroll");
    const [outer, inner] = [box.getBoundingClientRect(), element.getBoundingClientRect()];
    if (!inner.width || (inner.top >= outer.top && inner.bottom <= outer.bottom && inner.left >= outer.left && inner.right <= outer.right)) return;
    box.scrollBy({
      top: (inner.top + inner.bottom - outer.top - outer.bottom) / 2,
      left: (inner.left + inner.right - outer.left - outer.right) / 2,
      behavior: "instant",
    });
  }

  function read(id) { // choose, and go there
    if (!choose(id)) return;
    const title = one(`${id}-title`);
    title.focus({ preventScroll: true });
    if (getComputedStyle(one("panels")).position !== "sticky") title.scrollIntoView({ block: "start" });
  }

  function step(by) {
    const shown = visible();
    if (!shown.length) return;
    const index = shown.indexOf(rowOf.get(chosen));
    const next = shown[Math.max(0, Math.min(shown.length - 1, index < 0 ? 0 : index + by))];
    choose(next.dataset.for);
    const link = next.querySelector("a");
    link.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest", behavior: "instant" });
  }

  // Events

  document.addEventListener("click", (event) => {
    const copy = event.target.closest(".copy");
    if (copy) return void put(copy);
    const chip = event.target.closest(".chip");
    if (chip) return void press(chip, event);
    const link = event.target.closest('a[href^="#m"]');
    const row = link ? null : event.target.closest(".modules tbody tr");
    const id = link ? link.getAttribute("href").slice(1) : row?.dataset.for;
    if (!id || !panels.has(id)) return undefined;
    event.preventDefault();
    history.replaceState(null, "", `#${id}`);
    return void read(id);
  });

  function press(chip, event) {
    if (event.altKey || event.detail === 2) { // only this one
      chips.forEach((each) => each.setAttribute("aria-pressed", String(each === chip)));
    } else {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
    }
    filter();
  }

  async function put(button) {
    const text = button.dataset.copy;
    try {
      await navigator.clipboard.writeText(text);
    } catch { // a page from a file may not: select it, so that the keyboard can
      getSelection().selectAllChildren(button.previousElementSibling);
      button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
      return;
    }
    button.textContent = "Copied";
  }

  document.addEventListener("keydown", (event) => {
    const typing = event.target === search;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, Home: -Infinity, End: Infinity };
    const inTable = event.target.closest?.(".modules");
    if (event.key === "/" && !typing) {
      event.preventDefault();
      search.select();
    } else if (event.key === "Escape") {
      if (typing && search.value) { search.value = ""; filter(); } else rowOf.get(chosen)?.querySelector("a").focus();
    } else if (event.key === "Enter" && typing) {
      step(0);
    } else if (event.key in steps && (inTable || typing || event.key === "j" || event.key === "k")) {
      if (typing && event.key !== "ArrowDown") return;
      event.preventDefault();
      step(typing ? 0 : steps[event.key]);
    }
  });

  const bar = document.querySelector(".filter");
  new ResizeObserver(() => document.documentElement.style.setProperty("--top", `${bar.offsetHeight}px`)).observe(bar);
  search.addEventListener("input", filter);
  one("clear").addEventListener("click", showAll);
  addEventListener("hashchange", () => read(location.hash.slice(1)));
  addEventListener("beforeprint", () => all(".panel.notable details").forEach((details) => { details.open = true; }));

  // The start: what is bad news is chosen; of many modules the unchanged ones are out of the way

  const quiet = chips.find((chip) => chip.dataset.result === "unchanged");
  if (rows.length > MANY && quiet && chips.length > 1) quiet.setAttribute("aria-pressed", "false");
  filter();
  const start = location.hash.slice(1);
  if (panels.has(start)) read(start);
  else if (rows.length) choose(document.querySelector(".attention a[href^='#m']")?.getAttribute("href").slice(1) ?? (visible()[0] ?? rows[0]).dataset.for);
})();
