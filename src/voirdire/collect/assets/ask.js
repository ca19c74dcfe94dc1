"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const data = JSON.parse(find("data").textContent);
  const paired = data.answer === "winner";
  const place = `voirdire-ask:${data.id}`;
  let person = "", order = [], swapped = [], state = { answers: {}, skipped: [], log: [] }, now = null, kept = true;

  // A stream of numbers in [0, 1) that a text decides (FNV-1a, then mulberry32).
  function stream(text) {
    let seed = 2166136261;
    for (const letter of new TextEncoder().encode(text)) seed = Math.imul(seed ^ letter, 16777619);
    return () => {
      seed = (seed + 0x6d2b79f5) | 0;
      let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
  }

  function made(tag, text, more) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    return Object.assign(element, more || {});
  }

  function stored(key) {
    try { return localStorage.getItem(key); } catch { return null; }
  }

  function keep() {
    try {
      localStorage.setItem(`${place}:${person}`, JSON.stringify(state));
      localStorage.setItem(place, person);
      kept = true;
    } catch { kept = false; }
    if (!kept) warn();
  }

  function warn() {
    find("place").textContent = "This browser keeps nothing: save the answers before you close the page.";
  }

  // Whether what was kept is what this page keeps: anything else is left alone and begun anew.
  function sound(kept) {
    return kept && typeof kept.answers === "object" && kept.answers && Array.isArray(kept.log)
      && Array.isArray(kept.skipped) && kept.log.every((at) => data.questions[at])
      && Object.keys(kept.answers).every((at) => data.questions[at] && choices().some((one) => one.value === kept.answers[at]));
  }

  function begin(name) {
    person = name;
    const random = stream(`${data.seed}:${name}`);
    order = data.questions.map((_, at) => at);
    for (let at = order.length - 1; at > 0; at--) {
      const other = Math.floor(random() * (at + 1));
      [order[at], order[other]] = [order[other], order[at]];
    }
    swapped = data.questions.map(() => random() < 0.5);
    state = { answers: {}, skipped: [], log: [] };
    try {
      const before = JSON.parse(stored(`${place}:${name}`));
      if (sound(before)) state = before;
    } catch { /* begun anew */ }
    keep();
    next();
  }

  function choices() {
    if (!paired) return data.levels.map((level, at) => ({ value: level, text: level, key: at < 9 ? String(at + 1) : "" }));
    const found = [
      { value: "first", text: "Left is better", key: "ArrowLeft", shown: "\u2190", number: "1" },
      { value: "second", text: "Right is better", key: "ArrowRight", shown: "\u2192", number: "3" },
    ];
    if (data.ties) found.splice(1, 0, { value: "tie", text: "Neither", key: "t", number: "2" });
    return found;
  }

  // The items of a question in the order in which this person sees them.
  function sides(at) {
    const items = data.questions[at].items;
    return paired && swapped[at] ? [items[1], items[0]] : items;
  }

  function section(name) {
    for (const one of ["start", "ask", "end"]) find(one).hidden = one !== name;
    find("progress").hidden = name === "start";
  }

  function next() {
    const answered = Object.keys(state.answers).length;
    find("progress").value = data.questions.length ? answered / data.questions.length : 1;
    now = order.find((at) => !(at in state.answers) && !state.skipped.includes(at));
    if (now === undefined) return end();
    const number = answered + state.skipped.length + 1;
    if (kept) find("place").textContent = `Question ${number} of ${data.questions.length}`;
    const asked = data.questions[now];
    find("question").textContent = asked.criterion ? `${data.task} By: ${asked.criterion}` : data.task;
    find("context").hidden = asked.about === undefined;
    find("about").textContent = asked.about === undefined ? "" : data.about[asked.about];
    find("texts").replaceChildren(...sides(now).map((item, side) => {
      const article = made("article");
      if (paired) {
        const head = made("h2", side ? "Right" : "Left", { id: `side${side}` });
        article.append(head);
        article.setAttribute("aria-labelledby", head.id);
      }
      article.append(made("div", data.items[item].text, { className: "text", dir: "auto" }));
      return article;
    }));
    find("undo").disabled = !state.log.length;
    section("ask");
    find("question").focus({ preventScroll: true });
    scrollTo(0, 0);
  }

  function answer(value) {
    state.answers[now] = value;
    state.log.push(now);
    keep();
    next();
  }

  function skip() {
    state.skipped.push(now);
    state.log.push(now);
    keep();
    next();
  }

  function undo() {
    if (!state.log.length) return;
    const last = state.log.pop();
    delete state.answers[last];
    state.skipped = state.skipped.filter((at) => at !== last);
    // it is asked next: what comes before it in the order is answered or skipped
    order = [last, ...order.filter((at) => at !== last)];
    keep();
    next();
  }

  function cell(text) {
    return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
  }

  // The answers in the order of the questions; the first item is the one that was shown on the left.
  function table() {
    const columns = ["person", ...(paired ? ["first", "second"] : ["item"]), data.answer];
    if (data.criteria) columns.push("criterion");
    if (data.contexts) columns.push("context");
    const lines = [columns];
    data.questions.forEach((asked, at) => {
      if (!(at in state.answers)) return;
      const line = [person, ...sides(at).map((item) => data.items[item].name), state.answers[at]];
      if (data.criteria) line.push(asked.criterion || "");
      if (data.contexts) line.push(asked.context || "");
      lines.push(line);
    });
    return lines.map((line) => line.map(cell).join(",") + "\n").join("");
  }

  function end() {
    const answered = Object.keys(state.answers).length, left = data.questions.length - answered;
    now = null;
    if (kept) find("place").textContent = `${answered} of ${data.questions.length} answered`;
    find("done").textContent = left ? "Thank you so far" : "Thank you";
    find("left").textContent = left ? `${left} ${left === 1 ? "question has" : "questions have"} no answer.` : "Every question has an answer.";
    find("again").hidden = !left;
    find("again").textContent = state.skipped.length ? "Go through what was skipped" : "Go on";
    find("back").hidden = !state.log.length;
    find("send").hidden = !data.send || !answered;
    find("return").hidden = Boolean(data.send);
    const csv = table(), save = find("save");
    find("csv").value = csv;
    if (save.href) URL.revokeObjectURL(save.href);
    save.href = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
    save.download = `answers-${person.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "people"}.csv`;
    section("end");
    find("done").focus({ preventScroll: true });
  }

  find("how").textContent = paired
    ? `${data.questions.length} times two texts stand side by side. Keys: left and right arrow (or 1 and 3) for the better text, ${data.ties ? "t (or 2) for neither, " : ""}s to skip, u to undo.`
    : `${data.questions.length} texts, one at a time. Keys: 1 to ${Math.min(data.levels.length, 9)} for the answers from the left, s to skip, u to undo.`;
  find("answers").replaceChildren(...choices().map((choice) => {
    const button = made("button", choice.text, { type: "button", onclick: () => answer(choice.value) });
    if (choice.key) {
      button.setAttribute("aria-keyshortcuts", [choice.key, choice.number].filter(Boolean).join(" "));
      const mark = made("kbd", choice.shown || choice.key);
      mark.setAttribute("aria-hidden", "true");
      button.append(mark);
    }
    return button;
  }));
  find("person").value = stored(place) || "";
  find("skip").onclick = skip;
  find("undo").onclick = find("back").onclick = undo;
  find("stop").onclick = end;
  find("again").onclick = () => {
    state.log = state.log.filter((at) => at in state.answers);
    state.skipped = [];
    keep();
    next();
  };
  find("csv").onfocus = () => find("csv").select();
  find("who").onsubmit = (event) => {
    event.preventDefault();
    const name = find("person").value.trim();
    if (name) begin(name);
  };
  if (data.send) {
    find("stop").textContent = "End here";
    find("save").classList.add("second");
    find("home").href = data.back;
    find("home").hidden = false;
    find("send").action = data.send;
    find("send").addEventListener("submit", () => {
      // the server keeps them from here on
      try { localStorage.removeItem(`${place}:${person}`); localStorage.removeItem(place); } catch { /* nothing was kept */ }
    });
    begin("me");
  }
  document.addEventListener("keydown", (event) => {
    if (find("ask").hidden || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    if (["INPUT", "TEXTAREA"].includes(event.target.tagName)) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const choice = choices().find((one) => one.key && [one.key, one.number].includes(key));
    if (choice) answer(choice.value);
    else if (key === "s") skip();
    else if (key === "u" || key === "Backspace") undo();
    else return;
    event.preventDefault();
  });
})();
