"use strict";
// What a step of a chart had is written below it. The page asks for itself again every few seconds, until it is told to pause.
(() => {
  const point = (event) => {
    const step = event.target.closest?.(".step, line.mark");
    if (step) step.closest("figure").querySelector("output").textContent = step.querySelector("title").textContent;
  };
  for (const kind of ["pointerover", "click"]) document.addEventListener(kind, point);
  const button = document.getElementById("live");
  if (!button) return;
  let paused = sessionStorage.getItem("paused") === "1";
  const show = () => {
    button.setAttribute("aria-pressed", String(paused));
    button.textContent = paused ? "Paused: go on" : "Live: pause";
  };
  const renew = async () => {
    if (paused || document.hidden) return;
    try {
      const answer = await fetch(location.href, {headers: {Accept: "text/html"}});
      if (!answer.ok) throw new Error(String(answer.status));
      const next = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const part of document.querySelectorAll("[data-live]")) {
        const fresh = next.querySelector(`[data-live="${part.dataset.live}"]`);
        if (fresh && !part.contains(document.activeElement)) part.replaceWith(document.importNode(fresh, true));
      }
      document.title = next.title;
      button.classList.remove("lost");
    } catch {
      button.classList.add("lost");
      button.textContent = "No answer: pause";
      return;
    }
    show();
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    paused = !paused;
    sessionStorage.setItem("paused", paused ? "1" : "0");
    show();
    renew();
  });
  show();
  setInterval(renew, 5000);
})();
