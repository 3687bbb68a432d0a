// Buttons that copy what stands beside them.
import { announce } from "./session.js";

export async function copy(button, text) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    announce("Copied.");
  } catch {
    button.textContent = "Press Ctrl+C";
  }
  setTimeout(() => { button.textContent = label; }, 2000);
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", () => {
    const source = document.getElementById(button.dataset.copy);
    getSelection().selectAllChildren(source);
    copy(button, source.textContent);
  });
}
