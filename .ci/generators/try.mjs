// Has generators of clients read a description, compiles what they make as strictly as
// TypeScript can, together with a program for each that makes, lists, changes and deletes an
// order, and runs these programs. It is one process for all, since each brings the same
// compiler along. What became of each is written to result.json in the folder.
// node try.mjs DESCRIPTION FOLDER BASE API_KEY [NAME...]
import { cp, readFile, symlink, writeFile, mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [description, folder, base, key, ...only] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const input = resolve(description);
const spec = async () => JSON.parse(await readFile(input, "utf8"));
const at = (...names) => resolve(folder, ...names);

const generators = {
  "openapi-typescript": async () => {
    const { default: generate, astToString } = await import("openapi-typescript");
    const text = astToString(await generate(pathToFileURL(input)));
    await mkdir(at("openapi-typescript"));
    await writeFile(at("openapi-typescript", "schema.ts"), text);
  },
  "hey-api": async () => {
    const { createClient } = await import("@hey-api/openapi-ts");
    await createClient({ input, output: at("hey-api"), plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"], logs: { level: "silent", file: false } });
  },
  orval: async () => {
    const { default: generate } = await import("orval");
    const make = typeof generate === "function" ? generate : generate.default;
    await make({ input: { target: input }, output: { target: at("orval", "client.ts"), client: "fetch", mode: "single" } });
  },
  "orval-zod": async () => {
    const { default: generate } = await import("orval");
    const make = typeof generate === "function" ? generate : generate.default;
    await make({ input: { target: input }, output: { target: at("orval-zod", "zod.ts"), client: "zod", mode: "single" } });
  },
  "swagger-typescript-api": async () => {
    const { generateApi } = await import("swagger-typescript-api");
    await mkdir(at("swagger-typescript-api"));
    await generateApi({ input, output: at("swagger-typescript-api"), fileName: "client.ts", httpClientType: "fetch", silent: true, sortTypes: true });
  },
  "openapi-typescript-codegen": async () => {
    const { default: codegen, generate } = await import("openapi-typescript-codegen");
    await (generate ?? codegen.generate)({ input: await spec(), output: at("openapi-typescript-codegen"), httpClient: "fetch", useUnionTypes: true, useOptions: true });
  },
  oazapfts: async () => {
    const { generateSource } = await import("oazapfts");
    await mkdir(at("oazapfts"));
    await writeFile(at("oazapfts", "client.ts"), await generateSource(input));
  },
  "openapi-zod-client": async () => {
    const { generateZodClientFromOpenAPI } = await import("openapi-zod-client");
    await mkdir(at("openapi-zod-client"));
    await generateZodClientFromOpenAPI({ openApiDoc: await spec(), distPath: at("openapi-zod-client", "client.ts"), options: { withAlias: true } });
  },
};

console.log = () => {}; // some of them talk

const names = Object.keys(generators).filter((name) => only.length === 0 || only.includes(name));
const results = {};
for (const name of names) {
  const generate = generators[name];
  const began = process.cpuUsage();
  results[name] = { made: "", compiled: "", seen: null };
  try {
    await generate();
  } catch (problem) {
    results[name].made = String(problem?.stack ?? problem).slice(0, 2000);
  }
  const used = process.cpuUsage(began);
  results[name].cpu = Math.round((used.user + used.system) / 1e5) / 10;
}

await symlink(join(here, "node_modules"), at("node_modules"));
await cp(join(here, "flows"), at("flows"), { recursive: true });
await writeFile(at("package.json"), JSON.stringify({ type: "commonjs" }));
const { default: ts } = await import("typescript");
const program = ts.createProgram(names.flatMap((name) => [at("flows", `${name}.ts`)]), {
  strict: true, noUncheckedIndexedAccess: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext,
  lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"], types: [], rootDir: resolve(folder), outDir: at("dist"),
});
for (const d of ts.getPreEmitDiagnostics(program)) {
  const where = d.file?.fileName.slice(resolve(folder).length + 1) ?? "";
  const name = names.find((n) => where.startsWith(n + "/") || where === `flows/${n}.ts`);
  const line = d.file ? ts.getLineAndCharacterOfPosition(d.file, d.start).line + 1 : 0;
  const text = `${where}:${line}: ${ts.flattenDiagnosticMessageText(d.messageText, " ")}\n`;
  for (const n of name ? [name] : names) results[n].compiled += text.slice(0, 300);
}
program.emit();
await writeFile(at("dist", "package.json"), JSON.stringify({ type: "commonjs" }));

const load = createRequire(at("dist", "x.js"));
for (const name of names) {
  try {
    results[name].seen = await load(`./flows/${name}.js`).flow(base, key);
  } catch (problem) {
    results[name].failed = String(problem?.stack ?? JSON.stringify(problem)).slice(0, 2000);
  }
}
await writeFile(at("result.json"), JSON.stringify(results, null, 1));
process.exit(0);
