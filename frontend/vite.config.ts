import { fileURLToPath } from "node:url";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// `STEAD_ADDRESS=http://NAME.localhost:PORT npm run dev` shows a page that reloads itself, before a running daemon. It
// takes the Host and Origin of the page for its own, as the daemon answers only to its own name.
const daemon = process.env["STEAD_ADDRESS"];

export default defineConfig({
  plugins: [react(), tailwind()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    outDir: "../src/stead/web/static",
    emptyOutDir: true,
    sourcemap: false,
    // The content policy allows no data: scripts or fonts; small files stay files.
    assetsInlineLimit: 0,
    target: "es2023",
    chunkSizeWarningLimit: 900,
    // Feature-detects nothing that our browsers lack, and would put an inline script into the page.
    modulePreload: { polyfill: false },
  },
  server: daemon
    ? { proxy: { "/api": { target: daemon, changeOrigin: true, ws: true, headers: { origin: daemon } } } }
    : {},
});
