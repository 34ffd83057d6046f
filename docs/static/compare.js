// Two pictures of one view, laid over each other: a slider uncovers the second. Without this script both are shown.
for (const pair of document.querySelectorAll(".compare")) {
  const [before, after] = pair.querySelectorAll("img");
  if (!before || !after) continue;
  const slider = document.createElement("input");
  slider.type = "range";
  slider.min = "0";
  slider.max = "100";
  slider.value = "50";
  slider.setAttribute("aria-label", `${before.alt}, and after`);
  const show = () => pair.style.setProperty("--share", `${slider.value}%`);
  slider.addEventListener("input", show);
  pair.replaceChildren(before, after, slider);
  pair.classList.add("compared");
  show();
}
