// Draws the page's charts, again when light turns to dark; a chart that fails says so.
(() => {
  "use strict";
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");

  // Charts take the colours and the font of the page around them.
  function look() {
    const style = getComputedStyle(document.documentElement);
    const [ink, soft, line] = ["--ink", "--soft", "--line"].map((name) => style.getPropertyValue(name).trim());
    const font = getComputedStyle(document.body).fontFamily;
    return {
      background: "transparent",
      font,
      view: { stroke: line },
      axis: { labelColor: ink, titleColor: soft, domainColor: line, tickColor: line, gridColor: line, labelFontSize: 12, titleFontSize: 12 },
      legend: { labelColor: ink, titleColor: soft, labelFontSize: 12, titleFontSize: 12 },
      text: { color: ink },
    };
  }

  async function draw(place) {
    const spec = JSON.parse(document.getElementById(place.dataset.spec).textContent);
    if (place.view) place.view.finalize();
    try {
      const drawn = await window.vegaEmbed(place, spec, {
        actions: false, renderer: "svg", config: look(), tooltip: { theme: dark.matches ? "dark" : "light" },
      });
      place.view = drawn;
      place.dataset.drawn = still.matches ? "still" : "yes";
    } catch (failure) {
      place.classList.add("failed");
      console.error(`chart ${place.id}: ${failure}`);
    }
  }

  function drawAll() {
    return Promise.all([...document.querySelectorAll(".chart")].map(draw));
  }

  // On paper nothing can be opened: tables are, and what was closed is closed again.
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((each) => { each.open = true; });
  });
  window.addEventListener("afterprint", () => closed.forEach((each) => { each.open = false; }));

  dark.addEventListener("change", drawAll);
  drawAll().then(() => { document.documentElement.dataset.ready = "yes"; });
})();
