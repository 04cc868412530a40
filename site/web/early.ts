// Runs before the page is drawn: the reader's choice of dark or light, and that
// scripts run at all.
(() => {
  const html = document.documentElement;
  html.classList.add("js");
  try {
    const theme = localStorage.getItem("kb-theme");
    if (theme === "dark" || theme === "light") html.dataset.theme = theme;
  } catch {
    // a browser that keeps nothing
  }
})();
