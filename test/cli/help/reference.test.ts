import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandReference } from '../../../src/cli/help/reference.ts';
import { COMMANDS, GLOBAL_OPTIONS } from '../../../src/commands/registry.ts';
import { EXIT } from '../../../src/runtime/errors.ts';

const page = commandReference({ commands: COMMANDS, globalOptions: GLOBAL_OPTIONS });

test('docs/commands.md matches the registry', () => {
  expect(readFileSync(new URL('../../../docs/commands.md', import.meta.url), 'utf8')).toBe(page);
});

test('the page has every command that is listed, with its flags, and every exit code', () => {
  for (const { name, options, hidden } of COMMANDS) {
    expect(page.includes(`### \`tool ${name}`)).toBe(!hidden);
    for (const { flags } of options) expect(page).toContain(`- \`${flags}\`: `);
  }
  for (const exit of Object.values(EXIT)) expect(page).toContain(`| ${String(exit).padEnd(4)} |`);
});

test('help is in the words of the field: no old names, no relative clauses in place of nouns', () => {
  const old =
    /\b(?:take a snapshot|shelf|catalogue|doctor|what it (?:does|takes|needs)|what was \w+|those that|is there)\b/gi;
  expect([...page.matchAll(old)].map(([phrase]) => phrase)).toEqual([]);
});
