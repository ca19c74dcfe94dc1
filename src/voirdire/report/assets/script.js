(() => {
  "use strict";
  const make = (tag, text, label) => {
    const node = document.createElement(tag);
    if (text) node.textContent = text;
    if (label) node.setAttribute("aria-label", label);
    return node;
  };
  // A spreadsheet takes what begins like this for a formula: it gets an apostrophe in front.
  const guarded = (value) => (/^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/.test(value) ? "'" + value : value);
  const cell = (value) => {
    if (value === null) return "";
    const text = typeof value === "string" ? guarded(value) : String(value);
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  const copied = async (text, button) => {
    const before = button.textContent;
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      const area = make("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    button.textContent = done ? "Copied" : "Copying is not allowed here";
    setTimeout(() => { button.textContent = before; }, 1500);
  };
  const enhance = (table) => {
    const raw = JSON.parse(document.getElementById("raw-" + table.id.slice(2)).textContent);
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const all = [...body.rows];
    const tools = make("div");
    tools.className = "tools";
    const told = make("output");
    if (all.length > 8) {
      const field = make("input", "", "Filter rows: " + table.caption.textContent);
      field.type = "search";
      field.placeholder = "Filter rows";
      field.addEventListener("input", () => {
        const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
        let shown = 0;
        for (const row of all) {
          const text = row.textContent.toLowerCase();
          row.hidden = !words.every((word) => text.includes(word));
          shown += row.hidden ? 0 : 1;
        }
        told.textContent = words.length ? `${shown} of ${all.length} rows` : "";
      });
      tools.append(field);
    }
    const csv = () => {
      const rows = [...body.rows].filter((row) => !row.hidden).map((row) => raw.rows[Number(row.dataset.i)]);
      return [raw.names, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
    };
    table.csv = csv;
    const button = make("button", "Copy as CSV", "Copy as CSV: " + table.caption.textContent);
    button.type = "button";
    button.addEventListener("click", () => copied(csv(), button));
    tools.append(button, told);
    table.closest(".block").prepend(tools);
    if (all.length < 2) return;
    const key = (row, column) => {
      const one = row.cells[column];
      return one.dataset.v === undefined ? one.textContent.trim() : Number(one.dataset.v);
    };
    heads.forEach((head, column) => {
      const inner = make("button", head.textContent);
      inner.type = "button";
      head.dataset.head = head.textContent; // what prints: buttons are left out where a head is repeated
      head.replaceChildren(inner);
      inner.addEventListener("click", () => {
        const first = head.classList.contains("text") ? "ascending" : "descending";
        const other = first === "ascending" ? "descending" : "ascending";
        const way = head.getAttribute("aria-sort") === first ? other : first;
        heads.forEach((one) => one.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", way);
        const sign = way === "ascending" ? 1 : -1;
        const sorted = [...all].sort((a, b) => {
          const x = key(a, column), y = key(b, column);
          const numbers = typeof x === "number" && typeof y === "number";
          if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
          const order = numbers ? x - y : x.localeCompare(y, undefined, { numeric: true });
          return order ? sign * order : a.dataset.i - b.dataset.i;
        });
        body.append(...sorted);
      });
    });
  };
  document.querySelectorAll("table").forEach(enhance);
  document.querySelectorAll("pre[data-copy]").forEach((pre) => {
    const button = make("button", "Copy");
    button.type = "button";
    button.className = "copy";
    button.addEventListener("click", () => copied(pre.textContent, button));
    pre.before(button);
  });
})();
