import { defineConfig } from "vite";

// The page is served from the root of a loopback server whose Content-Security-Policy allows no inline script, so that
// everything is a file under assets/ and nothing is inlined or polyfilled into index.html.
export default defineConfig({
  base: "/",
  build: {
    outDir: "../page",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    sourcemap: false,
    chunkSizeWarningLimit: 900,
  },
});
