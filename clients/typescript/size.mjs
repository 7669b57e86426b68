// Fails if the SDK for apps, with its dependency, has more than 25 KB compressed.
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const { outputFiles } = await build({
  entryPoints: [new URL("dist/index.js", import.meta.url).pathname],
  bundle: true,
  minify: true,
  format: "esm",
  write: false,
});
const bytes = gzipSync(outputFiles[0].contents).length;
console.log(`the SDK has ${bytes} bytes compressed`);
if (bytes > 25_000) process.exit(1);
