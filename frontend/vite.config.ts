import { fileURLToPath } from "node:url";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { precompress } from "./vite.precompress";

// `STEAD_PAGE=NAME.localhost:PORT npm run dev` shows a page that reloads itself before a running daemon. The daemon answers
// only to its own name, so requests carry that, whatever the page's own address is.
const page = process.env.STEAD_PAGE;
const daemon = page && {
  target: `http://127.0.0.1:${page.slice(page.lastIndexOf(":") + 1)}`,
  ws: true,
  headers: { host: page, origin: `http://${page}` },
};

export default defineConfig({
  plugins: [react(), tailwind(), precompress()],
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
    // A page that is opened asked for eighty scripts, half of them below 2 kB. What stands at the entry's head is one now,
    // and what several pages share is joined where it is small, at the price of a few kB that a page does not need.
    rolldownOptions: {
      output: {
        // A name of two modules has a ~, which the daemon serves in no name of a file.
        chunkFileNames: (chunk) => `assets/${chunk.name.split("~")[0]}-[hash].js`,
        assetFileNames: ({ names }) => `assets/${names[0]?.split(/[~.]/)[0]}-[hash][extname]`,
        codeSplitting: {
          groups: [
            { name: "first", tags: ["$initial"], priority: 1 },
            { name: "shared", minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 20_000 },
          ],
        },
      },
    },
  },
  // One DOM for each worker, modules for each file. The time ends what hangs; on a crowded computer others need some of it.
  test: { environment: "jsdom", pool: "vmThreads", include: ["src/**/*.test.{ts,tsx}"], testTimeout: 30_000 },
  server: daemon ? { proxy: { "/api": daemon } } : {},
});
