import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const TEXT = /\.(?:css|js|json|mjs|svg|wasm)$/;
/** Below this a smaller body saves nothing: it fits into the packet that its head is in. */
const WORTH_IT_BYTES = 1000;

/**
 * Puts a `.gz` beside each asset that gets smaller by it, so that the daemon compresses nothing. The same page gives the
 * same bytes: zlib writes no time. The files are what the daemon's `web/pages.py` looks for.
 */
export function precompress(): Plugin {
  let folder = "";
  return {
    name: "stead-precompress",
    apply: "build",
    configResolved(config) {
      folder = join(config.root, config.build.outDir, config.build.assetsDir);
    },
    closeBundle() {
      for (const name of readdirSync(folder)) {
        if (!TEXT.test(name)) continue;
        const file = join(folder, name);
        const content = readFileSync(file);
        const packed = gzipSync(content, { level: constants.Z_BEST_COMPRESSION });
        if (content.length >= WORTH_IT_BYTES && packed.length < content.length) writeFileSync(`${file}.gz`, packed);
      }
    },
  };
}
