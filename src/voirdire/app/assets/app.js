"use strict";
(() => {
  const upload = async (area, file) => {
    const said = area.querySelector(".said");
    said.textContent = `Reading ${file.name} …`;
    try {
      const answer = await fetch(`${area.dataset.upload}?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
      const found = answer.headers.get("content-type").startsWith("application/json") ? await answer.json() : { error: await answer.text() };
      if (answer.ok) location.reload();
      else said.textContent = found.error;
    } catch {
      said.textContent = "The app does not answer. It may have been ended; start it again and drop the file anew.";
    }
  };
  for (const area of document.querySelectorAll("[data-upload]")) {
    const field = area.querySelector("input");
    field.value = "";
    field.addEventListener("change", () => { if (field.files.length) upload(area, field.files[0]); });
    for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
      area.addEventListener(kind, (event) => {
        event.preventDefault();
        area.classList.toggle("over", kind === "dragenter" || kind === "dragover");
        if (kind === "drop" && event.dataTransfer.files.length) upload(area, event.dataTransfer.files[0]);
      });
    }
  }
  // A file that misses its place must not replace the page.
  for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (event) => event.preventDefault());

  const fitting = document.getElementById("fitting");
  if (fitting) {
    const find = (id) => document.getElementById(id);
    let aloud = -Infinity;
    const watch = async () => {
      try {
        const now = await (await fetch(fitting.dataset.progress)).json();
        if (!now.running) return location.reload();
        find("elapsed").textContent = `${now.seconds} s`;
        if (now.said) find("known").textContent = now.said;
        if (now.total) Object.assign(find("moves"), { max: now.total, value: now.done });
        if (now.seconds - aloud >= 10) {
          find("aloud").textContent = `Fitting for ${now.seconds} seconds. ${now.said}`;
          aloud = now.seconds;
        }
      } catch {
        find("known").textContent = "the app does not answer; it may have been ended";
      }
      setTimeout(watch, 700);
    };
    watch();
  }

  for (const block of document.querySelectorAll("pre[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.textContent).then(
        () => { button.textContent = "Copied"; },
        () => { button.textContent = "Copying is not allowed here"; },
      );
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    block.before(button);
  }
})();
