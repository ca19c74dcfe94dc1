// Landmarks have names of their own, and examples that scroll are reached by the keyboard on devices without a mouse, too.
new MutationObserver(() => {
  document.querySelectorAll("nav.md-code__nav").forEach((nav, index) => {
    if (!nav.ariaLabel) nav.ariaLabel = `Example ${index + 1}`;
  });
  for (const code of document.querySelectorAll("pre > code:not([tabindex])")) code.tabIndex = 0;
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
    if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
  }
}).observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ["tabindex"] });

// Opened from disk, a page may start no worker: the search then runs in a hidden frame. The search's script asks whether
// its parent has an IFrameWorker, and finds its own address in the frame's first script.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.body.appendChild(frame);
      const inside = (this.inside = frame.contentWindow);
      inside.document.open();
      inside.document.write("<!doctype html><html lang='en'><title>search</title><body></body></html>");
      inside.document.close();
      const load = (src) =>
        new Promise((done, failed) => {
          const script = inside.document.createElement("script");
          script.src = new URL(src, location.href);
          script.onload = done;
          script.onerror = failed;
          inside.document.body.appendChild(script);
        });
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...all) => all.reduce((before, src) => before.then(() => load(src)), Promise.resolve());
      this.ready = load(url);
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {}
  };
}
