// Builds `dist/`: index.html, app.js, app.css for the server, and single.html with all of it inlined for `report.html`.

import { readFileSync } from "node:fs";
import { deflateRawSync } from "node:zlib";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** Lets nothing out: the file needs no more than itself. */
const SINGLE_CSP = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";

/** Unpacks the script and runs it. */
const UNPACK = `
      const bytes = Uint8Array.from(atob(document.getElementById("sarrus-app").textContent), (c) => c.charCodeAt(0));
      const code = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
      document.head.append(Object.assign(document.createElement("script"), { type: "module", textContent: code }));
    `;

/** The licences of what is built in, as they ask. */
function licences(): string {
  const texts = ["three", "uplot"].map((name) => `${name}\n\n${readFileSync(new URL(`node_modules/${name}/LICENSE`, import.meta.url), "utf8").trim()}`);
  return texts.join("\n\n");
}

function single(): Plugin {
  return {
    name: "single",
    enforce: "post",
    generateBundle(_options, bundle) {
      const app = bundle["app.js"], css = bundle["app.css"], page = bundle["index.html"];
      if (app?.type !== "chunk" || css?.type !== "asset" || page?.type !== "asset") throw new Error("app.js, app.css or index.html is missing");
      // a report is sent around: the script is packed, and unpacks itself as the frames do
      const packed = deflateRawSync(app.code, { level: 9 }).toString("base64");
      const licence = licences();
      app.code = `/*!\n${licence}\n*/\n${app.code}`;
      // functions, since a replacement text would read `$` as a command
      const html = String(page.source)
        .replace(/\s*<script type="module"[^>]*><\/script>/, "")
        .replace(/\s*<link rel="stylesheet"[^>]*>/, () => `\n    <style>${String(css.source)}</style>`)
        .replace("<head>", () => `<head>\n    <meta http-equiv="Content-Security-Policy" content="${SINGLE_CSP}" />`)
        .replace("</body>", () => `<script type="text/plain" id="sarrus-app">${packed}</script>\n    <script type="module">${UNPACK}</script>\n  </body>`)
        .replace("<html", () => `<!--\n${licence.replaceAll("--", "- -")}\n-->\n<html`);
      this.emitFile({ type: "asset", fileName: "single.html", source: html });
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [single()],
  build: {
    target: "es2023",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: { output: { entryFileNames: "app.js", assetFileNames: "app.[ext]", codeSplitting: false } },
  },
  test: { include: ["tests/**/*.test.ts"], testTimeout: 60000, hookTimeout: 60000, fileParallelism: false },
});
