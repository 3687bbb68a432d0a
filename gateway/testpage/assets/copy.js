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

document.addEventListener("click", (event) => {
  const name = event.target.dataset?.copy;
  if (!name) return;
  const source = document.getElementById(name);
  getSelection().selectAllChildren(source);
  copy(event.target, source.textContent);
});
