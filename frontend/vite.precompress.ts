import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

const TEXT = /^assets\/.*\.(?:css|js|json|mjs|svg|wasm)$/;
/** Below this a smaller body saves nothing: it fits into the packet that its head is in. */
const WORTH_IT_BYTES = 1000;

/**
 * Puts a `.gz` beside each asset that gets smaller by it, so that the daemon compresses nothing. The same page gives the
 * same bytes: zlib writes no time. The files are what the daemon's `web/pages.py` looks for.
 */
export function precompress(): Plugin {
  return {
    name: "stead-precompress",
    apply: "build",
    writeBundle({ dir }, bundle) {
      if (!dir) throw new Error("the page is built into a folder; set build.outDir");
      for (const name of Object.keys(bundle).filter((one) => TEXT.test(one))) {
        const content = readFileSync(join(dir, name));
        const packed = gzipSync(content, { level: constants.Z_BEST_COMPRESSION });
        const saves = content.length >= WORTH_IT_BYTES && packed.length < content.length;
        if (saves) writeFileSync(join(dir, `${name}.gz`), packed);
      }
    },
  };
}
