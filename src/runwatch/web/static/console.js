// What the page of the console does beside the terminal: the address of its socket, the end of the console, a lost
// connection, and downloads. The terminal itself is textual.js, which opens the socket when the page has loaded.
"use strict";
(() => {
  // Close codes of runwatch/web/server.py.
  const ENDED = 4000, FULL = 4001, REPLACED = 4002;
  const RETRY_MS = 1000;
  // The console needs 80 columns and 20 lines. A cell is 0.6 em wide and at most 1.4 em high.
  const COLUMNS = 82, LINES = 24, MAX_FONT_PX = 16, MIN_FONT_PX = 6;
  const MEND = "Who runs 'runwatch web' has the same text in the terminal and can mend it. Then open a console again.";
  let said = "", hasFailed = false, hasDrawn = false, socket = null;

  function tabName() {
    let name = sessionStorage.getItem("tab");
    if (!name) {
      name = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
      sessionStorage.setItem("tab", name);
    }
    return name;
  }

  function show(title, text, canOpen) {
    document.getElementById("over-title").textContent = title;
    document.getElementById("over-text").textContent = text;
    document.getElementById("over-again").hidden = !canOpen;
    const over = document.getElementById("over");
    if (!over.open) over.showModal();
  }

  async function reconnect() {
    show("The connection is lost", "A console opens again as soon as the server answers.", false);
    for (;;) {
      try {
        const answer = await fetch("alive", { cache: "no-store" });
        if (answer.ok) return location.reload();
        return show("The session has ended", "Open a new link of 'runwatch web'.", false);
      } catch {
        await new Promise((done) => setTimeout(done, RETRY_MS));
      }
    }
  }

  function closed(event) {
    if (event.code === ENDED && hasFailed) {
      show(hasDrawn ? "The console has ended on an error" : "The console cannot start", said + "\n\n" + MEND, true);
    } else if (event.code === ENDED) {
      show("The console has ended", said, true);
    } else if (event.code === FULL) {
      const bound = document.getElementById("bound").textContent;
      show("All consoles are in use", `This server runs ${bound} at once. Close one in another tab or browser.`, true);
    } else if (event.code === REPLACED) {
      show("The console is open in another tab", "A copy of this tab took it over.", true);
    } else {
      reconnect();
    }
  }

  function heard(event) {
    if (typeof event.data !== "string") {
      hasDrawn = true;
      return;
    }
    const [kind, content] = JSON.parse(event.data);
    if (kind === "ended") {
      said = content.text;
      hasFailed = content.has_failed;
    } else if (kind === "download") {
      const link = document.createElement("a");
      link.href = "download/" + encodeURIComponent(content.key);
      link.download = content.name;
      link.click();
    }
  }

  window.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      socket = this;
      // The server learns of its focus, so the terminal takes it once the socket is open.
      this.addEventListener("open", () => document.querySelector(".xterm-helper-textarea").focus());
      this.addEventListener("close", closed);
      this.addEventListener("message", heard);
    }
  };

  // The terminal would take ctrl+v and ctrl+c as keys. The browser pastes and copies instead; what it does not copy,
  // the console does.
  document.addEventListener("keydown", (event) => {
    const isPlain = event.ctrlKey && !event.shiftKey && !event.altKey && !event.metaKey;
    if (isPlain && (event.key === "v" || event.key === "c")) event.stopImmediatePropagation();
  }, true);
  document.addEventListener("copy", (event) => {
    const isDrawn = socket?.readyState === WebSocket.OPEN;
    if (isDrawn && !event.defaultPrevented) socket.send(JSON.stringify(["stdin", "\x03"]));
  });

  document.addEventListener("DOMContentLoaded", () => {
    const address = new URL("socket/" + tabName(), location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    address.search = "";
    const terminal = document.getElementById("terminal");
    terminal.dataset.sessionWebsocketUrl = address.href;
    const fitting = Math.floor(Math.min(innerWidth / COLUMNS / 0.6, innerHeight / LINES / 1.4));
    terminal.dataset.fontSize = Math.max(MIN_FONT_PX, Math.min(MAX_FONT_PX, fitting));
    document.getElementById("over-again").addEventListener("click", () => location.reload());
    // The terminal measures its font when it opens, so the font loads before.
    document.fonts.load('16px "Roboto Mono"');
  });
})();
