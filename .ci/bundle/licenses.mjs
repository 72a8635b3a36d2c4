import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Its folder, in the path of a file: not of a module that a plugin made, such as `builtin:…`. */
const PACKAGE = /^(?![\w-]+:)(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;

/** Where a license begins that others have too, after its notice of copyright. */
const COMMON = /^(?:Permission (?:is hereby granted|to use)|Redistribution and use)/m;

/** Terms of a license between its title and the appendix, which has the notice of copyright. */
const APACHE =
  /Apache License\s+Version 2\.0, January 2004[\s\S]*?additional liability\.(?:\s+END OF TERMS AND CONDITIONS)?/;

/** The licenses of the packages among the `inputs` of a bundle, equal texts once: a copy must carry them. */
export function licensesOf(root, inputs) {
  const folders = new Set(inputs.flatMap((path) => PACKAGE.exec(path)?.[0] ?? []));
  const packages = [...folders].sort().map((folder) => licenseOf(join(root, folder)));
  const licenses = Map.groupBy(packages, ({ terms }) => terms.replaceAll(/\s+/g, ' '));
  return [...licenses.values()].map(sectionOf).join(`\n${'-'.repeat(80)}\n`);
}

/** The packages with their notices of copyright, equal ones once, and the terms of all. */
function sectionOf(packages) {
  const notices = Map.groupBy(packages, ({ notice }) => notice);
  const parts = [...notices].map(([notice, those]) =>
    [...those.map(({ title }) => title), '', notice].join('\n').trim(),
  );
  return `${[...parts, packages[0].terms].filter(Boolean).join('\n\n')}\n`;
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  const texts = files
    .map((file) => join(folder, file))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8').trim());
  const text = texts.join('\n\n') || `License: ${license}`;
  const title = `${name} ${version} (${license})`;
  const [apache] = APACHE.exec(text) ?? [];
  if (apache) return { title, notice: text.replace(apache, () => '').trim(), terms: withEnd(apache) };
  const start = text.search(COMMON);
  const [notice, terms] = start < 0 ? ['', text] : [text.slice(0, start).trim(), text.slice(start)];
  return { title, notice, terms };
}

function withEnd(terms) {
  return terms.endsWith('CONDITIONS') ? terms : `${terms}\n\n   END OF TERMS AND CONDITIONS`;
}
