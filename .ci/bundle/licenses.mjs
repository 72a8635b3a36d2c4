import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Its folder, in the path of a file: not of a module that a plugin made, such as `builtin:…`. */
const PACKAGE = /^(?![\w-]+:)(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;

/** The licenses of the packages among the `inputs` of a bundle, equal texts once: a copy must carry them. */
export function licensesOf(root, inputs) {
  const folders = new Set(inputs.flatMap((path) => PACKAGE.exec(path)?.[0] ?? []));
  const packages = [...folders].sort().map((folder) => licenseOf(join(root, folder)));
  const texts = Map.groupBy(packages, ({ text }) => text);
  return [...texts]
    .map(([text, those]) => `${those.map(({ title }) => title).join('\n')}\n\n${text}\n`)
    .join(`\n${'-'.repeat(80)}\n`);
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  const texts = files
    .map((file) => join(folder, file))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8').trim());
  return { title: `${name} ${version} (${license})`, text: texts.join('\n\n') || `License: ${license}` };
}
