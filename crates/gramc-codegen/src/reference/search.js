// Shows the lines of the overview that have all words of the query, in their names or descriptions.
"use strict";
{
  const form = document.getElementById("search");
  const query = document.getElementById("query");
  const found = document.getElementById("found");
  const lines = [...document.querySelectorAll("li[data-words]")].map((item) => ({
    item,
    text: item.querySelector("a").textContent.toLowerCase() + " " + item.dataset.words,
  }));
  const sections = [...document.querySelectorAll("section")];
  const search = () => {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { item, text } of lines) {
      item.hidden = !words.every((word) => text.includes(word));
      count += item.hidden ? 0 : 1;
    }
    for (const section of sections) {
      section.hidden = !section.querySelector("li:not([hidden])");
    }
    found.textContent = words.length === 0 ? "" : count === 1 ? "1 match" : `${count} matches`;
  };
  form.hidden = false;
  query.value = new URLSearchParams(location.hash.slice(1)).get("q") ?? "";
  query.addEventListener("input", () => {
    history.replaceState(null, "", "#" + new URLSearchParams({ q: query.value }));
    search();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    document.querySelector("li[data-words]:not([hidden]) a")?.click();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== query) {
      event.preventDefault();
      query.focus();
    }
  });
  search();
}
