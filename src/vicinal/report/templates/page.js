"use strict";
(() => {
  const compare = (a, b, numeric) => {
    if (a === b) return 0;
    return numeric ? Number(a) - Number(b) : a.localeCompare(b, "en", { numeric: true });
  };

  // Rows without a value, and rows of methods that failed, stay last in either direction.
  const sortRows = (table, column, numeric, direction) => {
    const body = table.tBodies[0];
    const value = (row) => row.cells[column].dataset.value || "";
    const rank = (row) => ("last" in row.dataset ? 2 : value(row) === "" ? 1 : 0);
    const rows = Array.from(body.rows);
    rows.sort((a, b) => rank(a) - rank(b) || direction * compare(value(a), value(b), numeric));
    body.append(...rows);
  };

  for (const table of document.querySelectorAll("table[data-sortable]")) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const ascending = head.getAttribute("aria-sort") !== "ascending";
        for (const other of heads) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        sortRows(table, column, head.dataset.kind === "number", ascending ? 1 : -1);
        const words = head.innerText.replace(/\s+/g, " ").trim();
        document.getElementById("sorted").textContent =
          `Sorted by ${words}, ${ascending ? "ascending" : "descending"}`;
      });
    });
  }

  // Pressing a class in a legend shows it alone on both maps; pressing again shows all.
  for (const maps of document.querySelectorAll(".maps")) {
    const buttons = Array.from(maps.querySelectorAll("button[data-code]"));
    const light = (code) => {
      for (const button of buttons)
        button.setAttribute("aria-pressed", String(button.dataset.code === code));
      for (const mark of maps.querySelectorAll("svg [data-code]"))
        mark.classList.toggle("dim", code !== null && mark.dataset.code !== code);
    };
    for (const button of buttons)
      button.addEventListener("click", () =>
        light(button.getAttribute("aria-pressed") === "true" ? null : button.dataset.code));
  }

  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
})();
