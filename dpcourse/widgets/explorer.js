// The page's side of an explorer: labelled controls, the picture and its words. The kernel draws.
//
// An explorer is a pure function of its values, so a picture that was here before is shown again at once,
// and while the kernel has nothing to do it is asked for pictures that are likely to come next.

const KEPT = 240; // pictures
const PATIENCE = 20000; // ms until a question counts as lost
const QUICK = 60; // ms from one answer to the next: then the kernel may have two questions at a time
const BEAT = 90; // ms at least between two pictures that play
const SILENCE = 3000; // ms without an answer until that is said
const SILENT = "No answer from the kernel: it is busy, or it was restarted; then run the cell again.";

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name in node && name !== "list") node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

// JupyterLab must not take the keys of a control for its own shortcuts.
const OWN_KEYS = { "data-lm-suppress-shortcuts": "true" };

function render({ model, el }) {
  const specs = model.get("controls");
  const names = Object.keys(specs);
  const start = model.get("start");
  const prefix = `dp-${Math.random().toString(36).slice(2)}`; // two explorers never share an id
  let values = { ...model.get("values") };
  const keyOf = (some) => JSON.stringify(names.map((name) => some[name]));

  // ---- the picture and its words -------------------------------------------------------------

  const pictures = new Map(); // key -> { url, words, alt, width, height, image }, the latest last
  const words = make("p", { className: "dp-words", id: `${prefix}-words`, "aria-live": "polite" });
  const frame = () => make("img", {
    className: "dp-picture", decoding: "sync", "aria-describedby": words.id,
  });
  let image = frame(); // the one in the page
  const failure = make("p", { className: "dp-failure", role: "alert", hidden: true });
  let painted = null;
  const asked = new Map(); // key -> { ahead, since }, what the kernel is drawing
  let answeredAt = 0;
  let quick = false; // whether the last answer came soon
  let likely = () => []; // changes that can be foreseen from any values: a row of buttons has few
  let idle = 0; // a timer
  let next = likely; // changes that are likely to come next, the likeliest first
  let overdue = 0; // a timer

  function keep(key, said, buffer) {
    const url = URL.createObjectURL(new Blob([buffer], { type: "image/png" }));
    pictures.set(key, { ...said, url });
    for (const [old, picture] of pictures) {
      if (pictures.size <= KEPT) break;
      if (old === painted) continue;
      URL.revokeObjectURL(picture.url);
      pictures.delete(old);
    }
  }

  function load(key, into) {
    const picture = pictures.get(key);
    if (into.width !== picture.width) into.width = picture.width;
    into.style.aspectRatio = `${picture.width} / ${picture.height}`;
    into.src = picture.url;
    into.alt = picture.alt;
    picture.image = into;
  }

  function paint(key) {
    const picture = pictures.get(key);
    if (picture.image?.complete) { // it was foreseen, and is seen at once
      image.replaceWith(picture.image);
      image = picture.image;
    } else { // the page goes on showing what it has until the new one is there
      if (pictures.has(painted)) pictures.get(painted).image = null;
      load(key, image);
    }
    pictures.delete(key);
    pictures.set(key, picture);
    if (words.textContent !== picture.words) words.textContent = picture.words;
    heard();
    failure.hidden = true;
    el.classList.remove("dp-old");
    painted = key;
    el.dataset.painted = key;
    if (key === keyOf(values)) tell();
  }

  let telling = 0; // a timer: the kernel need not know every value on the way
  function tell() {
    clearTimeout(telling);
    telling = setTimeout(() => { model.set("values", values); model.save_changes(); }, 2 * BEAT);
  }

  function heard() {
    clearTimeout(overdue);
    overdue = 0;
  }

  function missing() {
    overdue = 0;
    failure.textContent = SILENT;
    failure.hidden = false;
    el.classList.add("dp-old");
  }

  function fail(message) {
    heard();
    failure.textContent = message;
    failure.hidden = false;
    el.classList.add("dp-old");
    el.dataset.painted = keyOf(values);
  }

  function ask(wanted, ahead = false) {
    const key = keyOf(wanted);
    asked.set(key, { ahead, since: performance.now() });
    const scale = Math.min(2, Math.max(1, window.devicePixelRatio || 1));
    try {
      model.send({ ask: wanted, key, ahead, scale });
    } catch { // the kernel that knew this explorer is gone
      if (!ahead) missing();
    }
  }

  function follow() {
    const key = keyOf(values);
    el.dataset.wanted = key;
    if (pictures.has(key)) {
      if (painted !== key || !failure.hidden) paint(key);
      lookAhead();
    } else {
      if (!overdue) overdue = setTimeout(missing, SILENCE);
      if (!asked.has(key) && room(true)) ask(values);
    }
  }

  // Whether to ask once more. A slow kernel gets one question at a time, and next always the newest wish, so
  // nothing queues; a quick one need not finish what was foreseen before it hears what is wanted.
  function room(wanted) {
    for (const [key, one] of asked) if (performance.now() - one.since > PATIENCE) asked.delete(key);
    if (!quick) return asked.size === 0;
    return wanted ? [...asked.values()].every((one) => one.ahead) : asked.size < 2;
  }

  function lookAhead() {
    clearTimeout(idle); // one of many buttons: not while somebody presses them one after the other
    if (next === likely) idle = setTimeout(foresee, BEAT);
    else foresee();
  }

  function foresee() {
    if (document.hidden) return;
    const guesses = next(values).map((change) => ({ ...values, ...change }));
    for (const guess of guesses) {
      if (!room(false)) return;
      const key = keyOf(guess);
      if (!pictures.has(key) && !asked.has(key)) ask(guess, true);
    }
  }

  function answered(said, buffers) {
    if (!said || !("key" in said)) return;
    const mine = asked.get(said.key);
    asked.delete(said.key);
    if (mine) {
      const now = performance.now();
      quick = now - Math.max(mine.since, answeredAt) < QUICK;
      answeredAt = now;
    }
    if (said.error) {
      if (said.key === keyOf(values)) return fail(said.error);
      if (mine && mine.ahead) next = () => [];
    } else {
      keep(said.key, said, buffers[0]);
      if (mine && !mine.ahead) paint(said.key); // also while the values have moved on: it shall move
      else load(said.key, frame());
    }
    follow();
  }
  model.on("msg:custom", answered);

  // ---- the controls ---------------------------------------------------------------------------

  const shows = []; // functions that show the values in the controls
  const stops = []; // functions that stop what plays

  function change(name, value, after = likely) {
    values = { ...values, [name]: value };
    next = after;
    show();
    follow();
  }

  function show() {
    for (const one of shows) one();
  }

  function slider(name, spec, id) {
    const place = () => spec.stops.indexOf(values[name]);
    const last = spec.stops.length - 1;
    const input = make("input", {
      type: "range", id, min: 0, max: last, step: 1, ...OWN_KEYS,
      oninput: () => { pause(); move(Number(input.value)); },
    });
    const output = make("output", { htmlFor: id });
    shows.push(() => {
      input.value = place();
      const text = spec.texts[place()];
      input.setAttribute("aria-valuetext", text);
      output.textContent = text;
    });
    const widest = Math.max(...spec.texts.map((text) => text.length));
    output.style.minWidth = `${widest}ch`;

    function move(to) {
      const by = Math.sign(to - place());
      if (by) change(name, spec.stops[to], (some) => around(some, by));
    }

    // The stops around these values: some on the way, and the one behind.
    function around(some, by) {
      const here = spec.stops.indexOf(some[name]);
      const there = [1, 2, 3, 4, -1].map((far) => here + far * by);
      return there.filter((one) => one >= 0 && one <= last).map((one) => ({ [name]: spec.stops[one] }));
    }
    if (spec.play) likely = (some) => around(some, 1);

    let timer = null;
    function pause() {
      if (timer === null) return;
      clearInterval(timer);
      timer = null;
      play.textContent = "Play";
    }
    function run() {
      if (place() === last) change(name, spec.stops[0]);
      play.textContent = "Pause";
      timer = setInterval(() => {
        if (painted !== keyOf(values) && failure.hidden) return; // the picture is still on its way
        if (place() < last && failure.hidden) move(place() + 1);
        else pause();
      }, BEAT);
    }
    stops.push(pause);
    const press = (label, onclick) => make("button", { type: "button", onclick, ...OWN_KEYS }, label);
    const play = press("Play", () => (timer === null ? run() : pause()));
    play.setAttribute("aria-label", `Play or pause ${spec.label}`);
    const step = press("Step", () => { pause(); if (place() < last) move(place() + 1); });
    step.setAttribute("aria-label", `One step of ${spec.label}`);
    const label = make("label", { htmlFor: id }, spec.label);
    return [label, make("span", { className: "dp-row" }, input, output, ...(spec.play ? [play, step] : []))];
  }

  function choice(name, spec, id) {
    const options = spec.options.map((option) => make("option", { value: option }, option));
    const select = make("select", {
      id, ...OWN_KEYS, onchange: () => change(name, select.value),
    }, ...options);
    shows.push(() => { select.value = values[name]; });
    return [make("label", { htmlFor: id }, spec.label), select];
  }

  function toggle(name, spec, id) {
    const box = make("input", {
      type: "checkbox", id, ...OWN_KEYS, onchange: () => change(name, box.checked),
    });
    shows.push(() => { box.checked = values[name]; });
    return [make("span"), make("label", { className: "dp-switch", htmlFor: id }, box, ` ${spec.label}`)];
  }

  function button(name, spec, id) {
    const after = (some) => [{ [name]: some[name] + 1 }];
    const press = make("button", {
      type: "button", id, ...OWN_KEYS, onclick: () => change(name, values[name] + 1, after),
    }, spec.label);
    return [make("span"), press];
  }

  function moves(name, spec, id) {
    const press = (label, onclick) => make("button", { type: "button", onclick, ...OWN_KEYS }, label);
    const buttons = spec.options.map((option) => press(option, () => change(name, [...values[name], option])));
    const undo = press("Undo", () => change(name, values[name].slice(0, -1)));
    likely = (some) => {
      const room = some[name].length < spec.most;
      return room ? spec.options.map((option) => ({ [name]: [...some[name], option] })) : [];
    };
    shows.push(() => {
      for (const one of buttons) one.disabled = values[name].length >= spec.most;
      undo.disabled = values[name].length === 0;
    });
    const label = make("span", { id, className: "dp-label" }, spec.label);
    const row = make("span", { className: "dp-row dp-moves", role: "group", "aria-labelledby": id });
    row.append(...buttons, undo);
    return [label, row];
  }

  const kinds = { slider, choice, switch: toggle, button, moves };
  const panel = make("div", { className: "dp-controls" });
  for (const name of names) {
    const control = make("div", { className: `dp-control dp-${specs[name].kind}` });
    control.append(...kinds[specs[name].kind](name, specs[name], `${prefix}-${name}`));
    panel.append(control);
  }
  const reset = make("button", {
    type: "button", className: "dp-reset", ...OWN_KEYS,
    onclick: () => {
      for (const stop of stops) stop();
      values = { ...start };
      next = likely;
      show();
      follow();
    },
  }, "Reset");
  panel.append(reset);

  el.classList.add("dp-explorer");
  el.setAttribute("role", "group");
  el.setAttribute("aria-label", model.get("name"));
  el.style.setProperty("--dp-tone", `url(#${prefix}-tone)`);
  el.append(panel, image, words, failure);
  const tall = new ResizeObserver(() => { // what is below the words moves down once, and never back
    words.style.minHeight = `${Math.max(words.clientHeight, parseFloat(words.style.minHeight) || 0)}px`;
  });
  tall.observe(words);
  // Pictures have a middle grey as ink, which serves any ground; on a light one it may be darker.
  const darker = ["R", "G", "B"].map((one) => `<feFunc${one} type="gamma" exponent="1.25"/>`).join("");
  el.insertAdjacentHTML("beforeend", `<svg width="0" height="0" aria-hidden="true" class="dp-tone">
    <filter id="${prefix}-tone" color-interpolation-filters="sRGB">
    <feComponentTransfer>${darker}</feComponentTransfer></filter></svg>`);
  const near = () => { if (next(values).length === 0) next = likely; lookAhead(); };
  el.addEventListener("pointerenter", near); // somebody is about to press something
  el.addEventListener("focusin", near);

  const first = model.get("first");
  keep(keyOf(first.values), first, model.get("picture"));
  paint(keyOf(first.values));
  show();
  next = () => []; // nobody is here yet
  if ((window.devicePixelRatio || 1) > 1) pictures.delete(keyOf(first.values)); // a sharper one, please
  follow();

  return () => {
    for (const stop of stops) stop();
    clearTimeout(idle);
    clearTimeout(telling);
    heard();
    tall.disconnect();
    model.off("msg:custom", answered);
    el.removeEventListener("pointerenter", near);
    el.removeEventListener("focusin", near);
    for (const picture of pictures.values()) URL.revokeObjectURL(picture.url);
  };
}

export default { render };
