
"use strict";
(() => {
  const tip = document.getElementById("tip");
  const read = new WeakMap();
  let dots = [];

  // A line's vertices with their values in words, read once.
  const verticesOf = (line) => {
    if (!read.has(line)) {
      const places = line.getAttribute("points").split(" ");
      const values = line.dataset.v.split("|");
      read.set(line, places.map((place, at) => {
        const [x, y] = place.split(",").map(Number);
        const [across, upward] = (values[at] || "").split("\t");
        return { x, y, across, upward };
      }));
    }
    return read.get(line);
  };

  const hide = () => {
    tip.hidden = true;
    dots.forEach((dot) => dot.remove());
    dots = [];
  };

  const show = (event) => {
    hide();
    const svg = event.target.closest && event.target.closest("svg[role=img]");
    const lines = svg ? [...svg.querySelectorAll("polyline[data-v]")] : [];
    const matrix = svg && svg.getScreenCTM();
    if (!lines.length || !matrix) return;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse()).x;
    const nearest = lines.filter((line) => line.getAttribute("points")).map((line) => {
      const vertices = verticesOf(line);
      return [line, vertices.reduce((a, b) => (Math.abs(b.x - at) < Math.abs(a.x - at) ? b : a))];
    });
    if (!nearest.length) return;
    const first = nearest.reduce((a, b) => (Math.abs(b[1].x - at) < Math.abs(a[1].x - at) ? b : a))[1];
    const text = nearest.map(([line, vertex]) => {
      const name = lines.length > 1 ? line.dataset.n + ": " : "";
      return name + vertex.upward + (vertex.across === first.across ? "" : " (" + vertex.across + ")");
    });
    tip.textContent = [first.across, ...text].join("\n");
    for (const [line, vertex] of nearest) {
      const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      dot.setAttribute("class", line.getAttribute("class").replace(/^l/, "f").replace(/ d\d/, ""));
      dot.setAttribute("r", svg.viewBox.baseVal.width < 300 ? 2.5 : 4.5);
      dot.setAttribute("cx", vertex.x);
      dot.setAttribute("cy", vertex.y);
      dot.setAttribute("pointer-events", "none");
      svg.append(dot);
      dots.push(dot);
    }
    tip.hidden = false;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8);
    tip.style.left = Math.max(0, left) + "px";
    tip.style.top = Math.max(0, top) + "px";
  };

  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
  document.addEventListener("scroll", hide, true);

  const keyOf = (row, column, isNumber) => {
    const cell = row.cells[column];
    const text = cell.title || cell.textContent;
    if (!isNumber) return text;
    const number = cell.title ? Number(text) : Number(text.replace(/[\u202f\u00a0]/g, ""));
    return text === "" || Number.isNaN(number) ? null : number;
  };

  const sort = (head) => {
    const body = head.closest("table").tBodies[0];
    const isNumber = head.className === "n";
    // Numbers begin with the highest, words with the first.
    const before = head.getAttribute("aria-sort");
    const isDown = before ? before === "ascending" : isNumber;
    head.parentNode.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    const keyed = [...body.rows].map((row) => [keyOf(row, head.cellIndex, isNumber), row]);
    keyed.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      const order = isNumber ? a - b : a.localeCompare(b);
      return isDown ? -order : order;
    });
    body.append(...keyed.map(([, row]) => row));
  };

  for (const head of document.querySelectorAll("thead th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head));
    head.append(button);
  }
})();
