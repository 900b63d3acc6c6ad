// Runs before anything is painted: the chosen theme must not flash.  The rest of the header's behaviour is here too.
// Every page reads it first, so that the global which all scripts share begins here.
(function () {
  "use strict";
  const BW = (window.BW = {});
  const root = document.documentElement;
  const stored = function () {
    try {
      return window.localStorage.getItem("theme");
    } catch (error) {
      return null; // browsers may refuse storage to pages opened from a file
    }
  };
  const chosen = stored();
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  BW.dark = function () {
    if (root.dataset.theme) return root.dataset.theme === "dark";
    return window.matchMedia("(prefers-color-scheme: dark)").matches;
  };
  const changed = function () {
    document.dispatchEvent(new Event("themechange"));
  };
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  document.addEventListener("DOMContentLoaded", function () {
    const button = document.getElementById("theme");
    const label = function () {
      button.setAttribute("aria-label", BW.dark() ? "Use light colours" : "Use dark colours");
      button.textContent = BW.dark() ? "☀" : "☾";
    };
    label();
    button.hidden = false;
    document.addEventListener("themechange", label);
    button.addEventListener("click", function () {
      root.dataset.theme = BW.dark() ? "light" : "dark";
      try {
        window.localStorage.setItem("theme", root.dataset.theme);
      } catch (error) {
        // then it holds for this page only
      }
      changed();
    });
    // The address's hash holds what a page shows, so the link to the content must not change it.
    document.querySelector(".skip").addEventListener("click", function (event) {
      event.preventDefault();
      document.getElementById("main").focus();
    });
  });
})();
