/** Runs before the first paint: says that scripts work, applies the chosen theme, and lets the switch change it. */
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const saved = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  };
  const theme = saved();
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;

  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element) || !event.target.closest("[data-theme-switch]")) return;
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    document.dispatchEvent(new Event("themechange"));
  });
})();
